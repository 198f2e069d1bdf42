"""The steps of the schema, each in a file named by its number."""
