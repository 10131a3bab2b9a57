"""Completion in bash, zsh and fish, each asked as it asks itself; manual pages without a warning of mandoc."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
PROGRAM = os.environ.get("SIGNORINI_PROGRAM", "")
# What is typed, what is offered among others, what is not.
CASES = [
    ("signorini ", {"list", "solve", "completion"}, {"--json"}),
    ("signorini re", {"record", "replay", "reproduce"}, {"solve"}),
    ("signorini --j", {"--json"}, set()),
    ("signorini solve --sol", {"--solver", "--solution"}, {"--size"}),
    ("signorini solve --js", {"--json"}, set()),
    ("signorini solve x.h5 --solver cr-", {"cr-full", "cr-diag"}, {"pgs"}),
    ("signorini solve x.h5 --solver pgs,ic", {"pgs,ica", "pgs,ica-cr"}, {"pgs,pcg"}),
    ("signorini solve x.h5 --solver=nn", {"nncg"}, {"pgs"}),
    ("signorini solve --regions points,isl", {"points,islands"}, set()),
    ("signorini solve --tolerance ", set(), {"pgs", "solve", "problem.hdf5"}),
    ("signorini record bu", {"bucket", "bunnies"}, {"rings"}),
    ("signorini record --size ", {"quick", "medium", "paper"}, {"bucket"}),
    ("signorini record ", {"bucket", "mine.toml"}, {"solve"}),
    ("signorini --configs folder record bu", {"bucket"}, set()),
    ("signorini run lazarevych2010_f", {"lazarevych2010_fig1"}, {"signorini_all"}),
    ("signorini list ", {"solvers", "scenes", "experiments"}, {"bucket"}),
    ("signorini info prob", {"problem.hdf5"}, {"mine.toml"}),
    ("signorini run --out fol", {"folder"}, {"problem.hdf5"}),
    ("signorini completion ", {"bash", "zsh", "fish"}, {"list"}),
    ("signorini man so", {"solve"}, {"list"}),
]
BASH = """
source <(signorini completion bash)
for line; do
  # readline breaks words at spaces and '=', the last word may be empty
  read -ra COMP_WORDS <<< "${line//=/ = }"
  [[ $line != *' ' ]] || COMP_WORDS+=('')
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
  _signorini
  printf '%s\\n' "${COMPREPLY[@]}" --
done
"""
FISH = """
signorini completion fish | source
for line in $argv
  complete -C $line | string replace -r '\\t.*' ''
  printf '%s\\n' --
end
"""
# zsh completes in a terminal only: a second zsh runs in one and writes what it would offer into a file, a list of words per tab key.
ZSH = r"""
zmodload zsh/zpty zsh/zselect
folder=$1 && shift
signorini completion zsh > $folder/_signorini
cat > $folder/.zshrc <<'END'
PS1= PROMPT_EOL_MARK=
fpath=($ZDOTDIR $fpath)
autoload -Uz compinit && compinit -u -D
bindkey '^I' complete-word
compadd() {
  local -a hits
  if [[ "${@[1,(i)(-|--)]}" == *-(O|A|D)\ * ]]; then builtin compadd "$@"; return; fi
  builtin compadd -A hits "$@"
  print -rl -- $hits >> $ZDOTDIR/offered
  builtin compadd "$@"
}
done_once() { print -r -- -- >> $ZDOTDIR/offered; comppostfuncs=(done_once) }
comppostfuncs=(done_once)
print ready > $ZDOTDIR/ready
END
count() { grep -cx -e -- $folder/offered }
wait_for() { for i in {1..1500}; do eval $1 && return; zselect -t 2; zpty -r -t shell dump '*'; done; print "no answer: $1" >&2; exit 1 }
: > $folder/offered
export ZDOTDIR=$folder
zpty -b shell zsh -i
wait_for '[[ -e $folder/ready ]]'
for line; do
  before=$(count)
  zpty -w -n shell "$line"$'\t'
  wait_for '(( $(count) > before ))'
  zpty -w -n shell $'\x15'
done
cat $folder/offered
"""


@unittest.skipUnless(PROGRAM, "SIGNORINI_PROGRAM is not set")
class Completion(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(directory.cleanup)
        cls.folder = Path(directory.name)
        (cls.folder / "folder").mkdir()
        for name in ("problem.hdf5", "mine.toml"):
            (cls.folder / name).touch()
        cls.environment = {**os.environ, "PATH": f"{Path(PROGRAM).parent}{os.pathsep}{os.environ['PATH']}", "HOME": directory.name,
                           "SIGNORINI_CONFIGS": str(SOURCE / "configs")}

    def offered(self, *command):
        """What a script that prints candidates, and '--' after each line, gives for every case."""
        if not shutil.which(command[0]):
            self.skipTest(f"{command[0]} is not installed")
        done = subprocess.run([*command, *(line for line, _, _ in CASES)], capture_output=True, text=True, cwd=self.folder, env=self.environment,
                              timeout=300, check=True)
        self.assertEqual(done.stderr, "")
        return [set(part.split("\n")) for part in done.stdout.split("--\n")[:-1]]

    def check(self, all_offered, cases=CASES):
        self.assertEqual(len(all_offered), len(cases))
        for (line, among, absent), offered in zip(cases, all_offered):
            value = line.rpartition("=")[0]  # a shell may give the whole word
            offered = {word.removeprefix(value.split(" ")[-1] + "=").rstrip("/") for word in offered} if value else {word.rstrip("/ ") for word in offered}
            self.assertLessEqual(among, offered, line)
            self.assertFalse(absent & offered, f"{line}: {absent & offered}")

    def test_bash(self):
        self.check(self.offered("bash", "--norc", "-c", BASH, "bash"))

    def test_fish(self):
        self.check(self.offered("fish", "--no-config", "-c", FISH))

    def test_zsh(self):
        try:
            ends = os.openpty()
        except OSError:
            self.skipTest("zsh is asked at a pseudo-terminal, which this system does not give (mount -t devpts devpts /dev/pts)")
        for end in ends:
            os.close(end)
        with tempfile.TemporaryDirectory() as folder:
            # of a list zsh tells the last entry only
            last = [(line, {word.rpartition(",")[2] for word in among}, absent) for line, among, absent in CASES]
            self.check(self.offered("zsh", "-f", "-c", ZSH, "zsh", folder), last)

    def test_scripts_parse(self):
        for shell in ("bash", "zsh", "fish"):
            if shutil.which(shell):
                text = subprocess.run([PROGRAM, "completion", shell], capture_output=True, text=True, check=True).stdout
                done = subprocess.run([shell, "--no-execute" if shell == "fish" else "-n", "/dev/stdin"], input=text, capture_output=True, text=True, check=False)
                self.assertEqual((done.returncode, done.stderr), (0, ""), shell)


@unittest.skipUnless(PROGRAM, "SIGNORINI_PROGRAM is not set")
class Manual(unittest.TestCase):
    def page(self, *words):
        return subprocess.run([PROGRAM, "man", *words], capture_output=True, text=True, check=True).stdout

    def test_pages_have_every_option_of_the_help(self):
        names = subprocess.run([PROGRAM, "--help"], capture_output=True, text=True, check=True).stdout
        for command in re.findall(r"^  (\w+) ", names.split("Commands:")[1].split("Examples:")[0], re.M):
            told = subprocess.run([PROGRAM, command, "--help"], capture_output=True, text=True, check=True).stdout
            page = self.page(command).replace("\\-", "-")
            for option in re.findall(r"^  (?:-\w,)?(--[\w-]+)", told.split("Examples:")[0], re.M):
                self.assertIn(f"\\fB{option}\\fR", page, command)

    @unittest.skipUnless(shutil.which("mandoc"), "mandoc is not installed")
    def test_mandoc_finds_nothing_to_warn_of(self):
        for words in ([], ["solve"], ["completion"], ["replay"], ["export"]):
            done = subprocess.run(["mandoc", "-T", "lint", "-W", "warning"], input=self.page(*words), capture_output=True, text=True, check=False)
            warned = [line for line in done.stdout.splitlines() if "missing date" not in line]  # pages are the same whenever they are made
            self.assertEqual(warned, [], words)


if __name__ == "__main__":
    sys.exit(unittest.main())
