"""What always stays, whatever lies inside: sealed values, public keys, certificates, digests, pictures."""

from __future__ import annotations

from brainkit.scrub.page import Page, Pattern

_KEPT = (
    Pattern(r"\bENC\[[A-Z0-9_]{3,20},[^\]]*\]"),  # SOPS
    Pattern(r"\bENC\[PKCS7,[^\]]*\]"),  # hiera-eyaml
    Pattern(r"\bage1[0-9a-z]{50,}"),
    Pattern(
        r"-----BEGIN (?:AGE ENCRYPTED FILE|CERTIFICATE|TRUSTED CERTIFICATE|CERTIFICATE REQUEST|PUBLIC KEY"
        r"|RSA PUBLIC KEY|PGP PUBLIC KEY BLOCK|PGP MESSAGE|PGP SIGNATURE|SSH SIGNATURE"
        r"|X509 CRL)-----[A-Za-z0-9+/=\s:.,()\\\"'|>-]*?-----END [A-Z0-9 ]{3,40}-----"
    ),
    Pattern(r"\$ANSIBLE_VAULT;[0-9.]+;AES256[^\n]*(?:\s+[0-9a-f]{60,80})+(?:\s+[0-9a-f]{2,80})?"),
    Pattern(
        r"\b(?:ssh-(?:rsa|ed25519|dss)|ecdsa-sha2-nistp\d{3}|sk-(?:ssh-ed25519"
        r"|ecdsa-sha2-nistp256)@openssh\.com) AAAA[A-Za-z0-9+/]+={0,3}"
    ),
    Pattern(r"\bsha(?:1|224|256|384|512):[0-9a-f]{32,128}\b"),
    Pattern(r"\bsha(?:1|256|384|512)-[A-Za-z0-9+/]{27,88}={0,2}"),
    Pattern(r"(?:PK|PUBLISHABLE_KEY)[\"']?\s?[:=]\s?[\"']?pk_(?:live|test)_\w+"),  # in every visitor's browser
    Pattern(r"\bSHA256:[A-Za-z0-9+/]{43}=?"),  # fingerprint of an SSH key
    Pattern(
        r"\bdata:(?:image|font|audio|video|application/(?:font|x-font|wasm"
        r"|pdf))[\w/+.;=-]{0,60};base64,[A-Za-z0-9+/=%]+"
    ),
    Pattern(r"\bLS0tLS1CRUdJTiBDRVJUSUZJQ0FURS[A-Za-z0-9+/]+={0,2}"),  # a certificate in base64, as in a kubeconfig
    Pattern(r"\bAg[A-Za-z0-9+/]{300,}={0,2}"),  # a SealedSecret
)
_SEALED = Pattern(r"\bAg[A-Za-z0-9+/]{60,}={0,2}")


def kept(page: Page) -> list[tuple[int, int]]:
    """Where they lie, in order, none overlapping another."""
    merged: list[tuple[int, int]] = []
    patterns = (*_KEPT, _SEALED) if "SealedSecret" in page.text or "encryptedData" in page.text else _KEPT
    for start, end in sorted(span for pattern in patterns for span in pattern.spans(page)):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
