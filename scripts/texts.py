"""The texts of the project that people read, each with its place and kind. check-words and draw-texts use it.

Texts in C are string literals of at least three words, joined as the compiler joins them. Their kind follows from the
call or the table that they stand in. Conversions such as %s are left as they are: the reader sees where names go.
Texts of pages in the browser are literals of at least three words, and what stands between elements.
"""

import dataclasses
import re
import subprocess

KINDS = ["help", "error", "event", "log", "output", "metric", "table", "page", "screen", "chart", "folder README"]

C_TOKEN = re.compile(
    r"(?P<comment>/\*.*?\*/|//[^\n]*)|(?P<char>'(?:\\.|[^'\\\n])*')|(?P<string>\"(?:\\.|[^\"\\\n])*\")|(?P<include>^#include[^\n]*)",
    re.DOTALL | re.MULTILINE)
JS_TOKEN = re.compile(
    r"(?P<comment>/\*.*?\*/|(?<!:)//[^\n]*)|(?P<string>(?<!\w)'(?:\\.|[^'\\\n])*'|\"(?:\\.|[^\"\\\n])*\"|`(?:\\.|\$\{(?:[^{}`]|`[^`]*`)*\}|[^`\\])*`)",
    re.DOTALL)
ELEMENT_TEXT = re.compile(r"(?<=>)[^<>{}=;()]+(?=[<{])")
GAP = re.compile(r"(?:\s|PRI[a-zA-Z0-9]+)*\Z")
CALL = re.compile(r"([a-z_]\w*)\s*\((?:[^()]|\([^()]*\))*\Z")
SHELL = re.compile(r"\$\{|\$cur|\$prev|_files|source <\(|compgen")  # parts of the completions
ESCAPES = {"n": "\n", "t": "\t", '"': '"', "\\": "\\", "'": "'"}

LOG_CALL = re.compile(r"^log_(?:error|fail|warn|info|debug|trace)$")
ERROR_CALL = re.compile(r"err_set|err_wrap|fail|wrong|refuse|complain|deny|reject|problem|not_an?_|warn|missing|unknown")
EVENT_FILES = re.compile(r"^src/(?:words/|console/notify/notices|services/fencer/tell|services/scheduler/(?:report|intake/complaints|carry/evictions)"
                         r"|services/binder/finish|services/grouper/queue|engine/nodes/filter|local/(?:agent|cleaning|workloads)/)")
# Texts that tables and formats of these folders bring into answers of the API server.
ANSWER_FILES = re.compile(r"^src/local/(?:api|apply|builtin|custom|server|subresources|verbs|wire)/")
NAMES_ONLY = re.compile(r"[\w$.-]*[A-Z.][\w$.-]*$")
NOT_READ = re.compile(  # statements of SQL, examples that help has, headers, JSON, and forms of options
    r"\s*(?:SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|PRAGMA|BEGIN|LIMIT|ORDER BY|FROM) |(?:muster|echo) \w|Accept: |Connection: |default-src"
    r"|event: (?:change|reset|rows|beat|%s)|[\]}]*[\[,][\"{-]|\[[A-Z]|\[\{|critical,|\.text\n|name: %s\n|\W*(?:verbs|configmaps|pods|kind):|.*apiGroups:|\"[\w.-]+\",\"")
NOT_SHOWN = re.compile(r"(?:class(?:Name)?=\{?[^}]*|(?:querySelector(?:All)?|closest|matches)(?:<\w+>)?\()\Z")
INSERTED = re.compile(r"\$\{(?:[^{}`]|`[^`]*`)*\}")
PLAIN_WORD = re.compile(r"(?<![\w/.$?&-])[A-Za-z']{2,}(?![\w/=$:(-])")
METRIC_FILES = re.compile(r"^src/(?:.*/meters\.c|services/scheduler/observe/|frame/(?:process_metrics|work_meters)|gpu/daemon/meters)")
COMMENT_BLOCK = re.compile(r"^ *#.*\n(?: *#.*\n)*", re.MULTILINE)
OPTION_ROW = re.compile(r"\{\s*(?:\d|'.'|\"[\w.-]+\",\s*FLAG_)[^{}]*\Z|\.(?:text|summary|help|usage)\s*=\s*\Z")
CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SECTION = re.compile(r"^(?=#+ )", re.MULTILINE)
CODE_BLOCK = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


@dataclasses.dataclass
class Text:
    path: str
    line: int
    kind: str  # one of KINDS, or "other"
    text: str

    @property
    def place(self):
        return f"{self.path}:{self.line}"


def unescape(literal):
    return re.sub(r"\\(.)", lambda found: ESCAPES.get(found[1], found[0]), literal)


def line_of(source, offset):
    return source.count("\n", 0, offset) + 1


def kind_of(path, before):
    """The kind of a literal that follows `before` in a C file."""
    if OPTION_ROW.search(before[-600:]):
        return "help"
    call = CALL.search(before[-400:])
    name = call[1] if call else ""
    if LOG_CALL.match(name):
        return "log"
    if EVENT_FILES.match(path):
        return "event"
    if ERROR_CALL.search(name):
        return "error"
    if ANSWER_FILES.match(path):
        return "error"
    if call and "assert" in name.lower():
        return "other"
    if METRIC_FILES.match(path):
        return "metric"
    return "help" if path.startswith("src/cli/help") else "output"


def is_sentence(text):
    """Whether a text is more than a list of names or a document."""
    words = text.split()
    return not text.startswith("{") and not all(NAMES_ONLY.match(word) for word in words)


def literals(path, source, token):
    """Runs of literals that the compiler joins: (offset, text)."""
    start, text, end = None, "", 0
    for found in token.finditer(source):
        if found.lastgroup != "string":
            continue
        if start is not None and GAP.match(source, end, found.start()):
            text += unescape(found[0][1:-1])
        else:
            if start is not None:
                yield start, text
            start, text = found.start(), unescape(found[0][1:-1])
        end = found.end()
    if start is not None:
        yield start, text


def texts_in_code(path, source, token):
    bare = C_TOKEN.sub(lambda found: re.sub(r"[^\n]", " ", found[0]) if found.lastgroup == "comment" else found[0], source)
    for offset, text in literals(path, source, token):
        is_shell = token is C_TOKEN and SHELL.search(text)
        if len(re.findall(r"(?<![\w/.$-])[A-Za-z']{2,}(?![\w/=$-])", text)) >= 3 and not is_shell and is_sentence(text):
            if token is C_TOKEN:
                kind = kind_of(path, bare[:offset])
                if NOT_READ.match(text) or kind == "output" and path.startswith("src/cel/"):
                    kind = "other"
            else:
                is_shown = not NOT_SHOWN.search(bare[:offset][-80:]) and len(PLAIN_WORD.findall(INSERTED.sub(" ", text))) >= 2
                kind = "screen" if is_shown else "other"
            yield Text(path, line_of(source, offset), kind, text)


def texts_in_elements(path, source):
    """What stands between the elements of a component."""
    for found in ELEMENT_TEXT.finditer(source):
        if len(re.findall(r"[A-Za-z']{2,}", found[0])) >= 3:
            yield Text(path, line_of(source, found.start()), "screen", found[0].strip())


def comments(path, source):
    for found in COMMENT_BLOCK.finditer(source):
        yield Text(path, line_of(source, found.start()), "chart", found[0])


def texts_in_markdown(path, source):
    if path.endswith("README.md") and path != "README.md":
        yield Text(path, 1, "folder README", source)
        return
    for found in CONSOLE.finditer(source):
        yield Text(path, line_of(source, found.start()), "table", found[1])
    offset = 0
    for section in SECTION.split(source):
        if section.strip():
            prose = CODE_BLOCK.sub(lambda found: "```...```" if found[0].startswith("```console") else found[0], section)
            yield Text(path, line_of(source, offset), "page", prose)
        offset += len(section)


def read_names(root):
    listed = subprocess.run(["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                            stdout=subprocess.PIPE, check=True)
    return sorted(name for name in listed.stdout.decode().split("\0") if name and (root / name).is_file())


def all_texts(root):
    """Every text that a person reads, in the order of places."""
    for path in read_names(root):
        is_code = path.startswith("src/") and path.endswith((".c", ".h")) and "/test/" not in path
        if not is_code and not path.endswith(".md") and not path.startswith(("ui/", "deploy/chart/")):
            continue
        source = (root / path).read_text(errors="replace")
        if is_code:
            yield from texts_in_code(path, source, C_TOKEN)
        elif path.endswith(".md"):
            yield from texts_in_markdown(path, source)
        elif path.endswith((".js", ".ts", ".tsx")) and ".config." not in path:
            yield from texts_in_code(path, source, JS_TOKEN)
            yield from texts_in_elements(path, source) if path.endswith(".tsx") else ()
        elif path.endswith(".html"):
            yield Text(path, 1, "screen", source)
        elif path.endswith("NOTES.txt"):
            yield Text(path, 1, "chart", source)
        elif path.endswith("values.yaml"):
            yield from comments(path, source)
