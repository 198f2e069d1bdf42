"""What a note needs stays: digests, identifiers, references, templates, names, prose."""

from __future__ import annotations

import hashlib

import pytest

from brainkit.scrub import scrub

SHA256 = hashlib.sha256(b"image").hexdigest()
SHA1 = hashlib.sha1(b"commit", usedforsecurity=False).hexdigest()
MD5 = hashlib.md5(b"file", usedforsecurity=False).hexdigest()
B64 = "u7Hk2mPq9ZxV4nRt8YwL1cBd6FgJ0sAe5iOo3TzXvNM"

BENIGN = [
    f"image: ghcr.io/x/app:v1.2.3@sha256:{SHA256}",
    f"commit {SHA1}",
    f"fixed in {SHA1[:8]}, see `git show {SHA1}`",
    f"| token-service | {SHA1[:7]} |",
    f"sha256sum: {SHA256}  backup.tar.zst",
    f"md5: {MD5}",
    f'integrity: "sha512-{B64}{B64}=="',
    "uuid: 5f0c1f9e-4a63-4d3b-9d6f-2c1a7e8b9f00",
    "UUID=5f0c1f9e-4a63-4d3b-9d6f-2c1a7e8b9f00 /mnt/tank ext4 defaults 0 2",
    "mac: c6:07:27:af:fb:53",
    "serial WD-WX42D80K7ZRT, bought 2023-04-01",
    "invoice INV/2025/00412 paid",
    "IBAN DE89 3704 0044 0532 0130 00",
    "IBAN: DE89370400440532013000",
    "version: v1.31.4+k3s1",
    "token: v1.31.4",
    "host 10.40.30.17:8971",
    "2024-11-03T02:40:11.563846Z backup finished",
    f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{B64[:43]} ina@meise",
    f"PublicKey = {B64[:43]}=",
    f"known_hosts: nas ssh-rsa AAAAB3NzaC1yc2E{B64}",
    f"password: ENC[AES256_GCM,data:{B64},iv:{B64}=,tag:{B64[:22]}==,type:str]",
    "age: age1epzmwwzw8n09slh0c7zyz52x43nnga7lkksx3qrh07tqz5v7lcys45428t",
    f"SHA256:{B64[:43]} (fingerprint of the host key)",
    "password: ${DB_PASSWORD}",
    "password: {{ vault_db_password }}",
    'password: "{{ .Values.password }}"',
    "token: $(cat /run/secrets/token)",
    "PASSWORD=$(openssl rand -base64 32)",
    "password: !vault |",
    "token: <your token>",
    "api_key: your_api_key_here",
    "password: ********",
    "api_key: xxxxxxxxxxxxxxxxxxxx",
    "password: ''",
    "password: null",
    "token: true",
    "secretName: foo-tls",
    "secretKeyRef:\n  name: grafana-admin\n  key: admin-password",
    "existingSecret: grafana-admin",
    "passwordKey: admin-password",
    "secretKey: AWS_ACCESS_KEY_ID",
    "key: /arc/github-app/app_id",
    "- name: POSTGRES_PASSWORD\n  valueFrom:",
    "password_file: /run/secrets/db_password",
    "POSTGRES_PASSWORD_FILE=/run/secrets/pg",
    "token_url: https://id.example/oauth2/token",
    "max_tokens: 4096",
    "tokens: 128000",
    "tokenizer: cl100k_base",
    "password_policy: strong",
    "password: str",
    "def login(user: str, password: str) -> None:",
    "password = get_password(user)",
    "password=self.password, token=args.token",
    "password = os.environ['DB_PASSWORD']",
    "password: string",
    "secret: vault:kv/data/shop#password",
    "pass: op://homelab/nas/password",
    "url: https://git.example/ina/notes.git",
    "git clone ssh://git@git.example:2222/ina/notes.git",
    "git@github.com:ina/notes.git",
    "proxy_pass http://127.0.0.1:8080;",
    "keyboard: de-latin1",
    "primary key: id",
    "public key: in the wiki",
    "The password is stored in Vaultwarden.",
    "Das Passwort liegt in Vaultwarden.",
    "Passwort vergessen? Siehe Notiz zum Router.",
    "password: see Vaultwarden",
    "Use --password to set it, or --password-file for a file.",
    "The `password` key of the Secret is rotated monthly.",
    "I need a personal access token (PAT) with repo scope.",
    "compass: north, bypass: valve 3, author: Ina",
    "Authorization: Bearer ${TOKEN}",
    "Authorization: Bearer <token>",
    "use Basic authentication with the app user",
    "See also: [[notes/password manager|the manager]]",
    "![logo](data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUA" + B64 + ")",
    f"-----BEGIN CERTIFICATE-----\nMIIDNTCCAh2gAwIBAgIJQQe2EmsNwJY7{B64[:32]}\n-----END CERTIFICATE-----",
    "ghcr.io/home-operations/sonarr:4.0.15.2940",
    "pod/sonarr-7d9f8c6b5-x2x4z restarted",
    "gpio pin: 17",
    "error code: E0042, exit code 137",
    "postal code: 04109",
    "amqp://user:*****@example.com",
    "https://grafana.fernhof.example/d/rYdddlPWk/node-exporter-full?orgId=1&refresh=30s",
    "channel: UCXuqSBlHAe6Xw-yeJA0Tunw",
    "user: 1000:1000",
    "docker run -u 1000:1000 app",
    "ports: 127.0.0.1:8080:80",
    "AUTH_HEADER_TOKEN_NAME: X-authentik-username",
    "DISABLE_PASSWORD_AUTH: true",
    "auth: basic",
    "credentials: see the vault",
    "secret santa is on 2024-12-06",
    "api: v2",
    "key: value",
    "E-Mail: ina@fernhof.example",
]


@pytest.mark.parametrize("text", BENIGN)
def test_benign_text_is_untouched(text: str) -> None:
    assert scrub(text).text == text
    framed = f"# Notes\n\n{text}\n\nMore prose follows here.\n"
    assert scrub(framed).text == framed


def test_the_list_is_long_enough_to_mean_something() -> None:
    assert len(BENIGN) >= 60
