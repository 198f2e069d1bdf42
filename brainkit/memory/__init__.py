"""What a brain remembers beyond texts: engrams, reviews, and the links between documents."""
