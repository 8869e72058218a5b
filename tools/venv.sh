#!/bin/sh
# Makes the virtual environment named by the first argument, or prints a sentence about the problem.
# PYTHON names the interpreter; without it, the first suitable one of python3, python3.14 ... is taken.
set -eu

venv=$1
wanted=${PYTHON:-}

die() {
    printf 'properboost: %s\n' "$1" >&2
    exit 1
}

# Valid in any Python, so that an old one can say that it is old.
probe='
import os, sys
def verdict():
    if sys.version_info < (3, 11):
        return "old"
    import sysconfig
    try:
        import ensurepip, venv
    except ImportError:
        return "venv"
    folders = [sysconfig.get_path("include"), sysconfig.get_config_var("INCLUDEPY")]
    found = any(f and os.path.exists(os.path.join(f, "Python.h")) for f in folders)
    return "fits" if found else "headers"
print("%s %d.%d" % ((verdict(),) + sys.version_info[:2]))
'
identity='import sys; print(sys.version, sys.base_prefix)'

# Sets verdict to what the probe printed, and problem to a sentence when that is not "fits".
examine() {
    verdict=$("$1" -c "$probe" </dev/null 2>/dev/null) || verdict=broken
    version=${verdict#* } verdict=${verdict%% *}
    case $verdict in
        fits) problem= ;;
        old) problem="$1 is Python $version, and Python 3.11 or newer is needed: install one, or name it with PYTHON=/path/to/python3." ;;
        venv) problem="$1 (Python $version) has no venv module: install it (Debian, Ubuntu: apt install python$version-venv), or name another interpreter with PYTHON=/path/to/python3." ;;
        headers) problem="$1 (Python $version) has no C headers: install them (Debian, Ubuntu: apt install python$version-dev; Fedora: dnf install python3-devel), or name another interpreter with PYTHON=/path/to/python3." ;;
        *) problem="$1 is not a Python that runs: name an interpreter of Python 3.11 or newer with PYTHON=/path/to/python3." ;;
    esac
}

# Prints nothing when an environment is there, works, and comes from the interpreter asked for.
if [ -x "$venv/bin/python" ]; then
    examine "$venv/bin/python"
    if [ "$verdict" = fits ] && "$venv/bin/python" -c 'import pip' 2>/dev/null; then
        [ -n "$wanted" ] || exit 0
        there=$("$venv/bin/python" -c "$identity")
        asked=$("$wanted" -c "$identity" 2>/dev/null) || asked=
        [ "$there" != "$asked" ] || exit 0
    fi
fi

if [ -n "$wanted" ]; then
    command -v "$wanted" >/dev/null 2>&1 || die "PYTHON=$wanted was not found: name an interpreter of Python 3.11 or newer."
    examine "$wanted"
    [ -z "$problem" ] || die "$problem"
    python=$wanted
else
    python= excuse= lacking=
    for name in python3 python3.14 python3.13 python3.12 python3.11; do
        command -v "$name" >/dev/null 2>&1 || continue
        examine "$name"
        case $verdict in
            fits) python=$name; break ;;
            venv | headers) lacking=${lacking:-$problem} ;;  # nearer to fitting than one that is too old
            old) excuse=${excuse:-$problem} ;;
        esac
    done
    [ -n "$python" ] || die "${lacking:-${excuse:-no Python was found: install Python 3.11 or newer, or name one with PYTHON=/path/to/python3.}}"
fi

printf '== Making %s with %s\n' "$venv" "$("$python" -c 'import sys; print("Python %d.%d.%d" % sys.version_info[:3])')"
"$python" -m venv --clear "$venv" || die "no virtual environment could be made in $venv: check that this folder can be written to."
