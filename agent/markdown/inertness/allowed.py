"""What does nothing when an editor shows it, as lists of the good: what is not on them is taken to act.

The editor is Obsidian with any plugin: each plugin takes over code blocks, header keys and callouts of some names, so
a name counts as inert only if it is known to mean plain text.
"""

import re
from urllib.parse import unquote


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


LANGUAGES = _words(
    """
    asm awk bash bat batch c c# c++ clojure cmake cmd console conf cpp cs csharp css csv cxx dart diff dockerfile
    elixir elm erlang fish fortran fsharp go golang gradle graphql groovy h haskell hcl hpp html http ini java
    javascript js json json5 jsonc julia kotlin kt less lisp log lua make makefile markdown matlab md nim nix objc
    objective-c ocaml pascal patch perl php plain plaintext powershell properties proto protobuf ps1 py python
    python3 r rb regex rs ruby rust sass scala scheme scss sh shell solidity sql swift tcl terminal terraform text
    toml ts tsv txt typescript vb verilog vhdl vim xml yaml yml zig zsh
    """
)
"""Languages of code blocks that are only coloured: those of programs, data and plain text. Left out are those that an
editor draws (`mermaid`, which can hold pictures of the web, and `svg`) and those that plugins run (`jsx`, `vue`)."""
CALLOUTS = _words(
    """
    abstract attention bug caution check cite danger done error example fail failure faq help hint important info
    missing note question quote success summary tip tldr todo warning
    """
)
HEADER_KEYS = _words(
    """
    address alias aliases amount area attendees author authors calories category channel city client completed
    country course created currency date deadline description doi due duration edition editor email end events
    format genre id ingredients isbn journal kind lang language last_modified level link links location modified
    name notes number organisation organization page pages participants people phone place price priority progress
    project projects published publisher quantity rating read recipe related review reviewed role scheduled season
    series servings site source sources start started state status subject subtitle summary tag tags time title to
    topic topics total translator type unit until updated url urls venue version volume week weight when where who
    year 作者 分类 日期 时间 标签 标题 来源 状态 类型 别名 主题 项目 地点 描述 摘要 评分 进度 链接
    """
)
"""Header keys that are words about the note. Left out are those that an editor acts on: `cssclasses`, `publish`,
`banner`, `cover`, `image`, `icon`, and what a plugin may yet read."""
_PICTURES = "png|jpe?g|gif|webp|bmp|avif"
_PICTURE = re.compile(rf"(?!/)(?!.*//)[\w /.,()'&+@=!\-\u2013\u2014]+\.(?:{_PICTURES})", re.IGNORECASE)
_EMBEDDED = re.compile(r"[^|#]+")
_WEB = re.compile(r"(?:https?://|mailto:)[^\s\\]+", re.IGNORECASE)
_NOTE = re.compile(r"(?!//)(?:[^:\\\x00-\x1f#]*)(?:#[^\\\x00-\x1f]*)?")
_TAGS = re.compile(
    r"</?(?:b|br|code|del|em|i|ins|kbd|mark|s|strong|sub|sup|u)[ ]{0,8}/?>|<https?://[^\s<>]*>", re.IGNORECASE
)
_QUERY = re.compile(r"\s*(?:=|\$=|button-|[A-Z][A-Z_]+\[)")
"""Inline code that Dataview, Buttons and Meta Bind run."""
_COMMAND = re.compile(r"\\([A-Za-z]+)")
_TEX = _words(
    """
    alpha approx ast bar because begin beta big Big bigg Bigg bigl bigr binom bmod boldsymbol bot bullet cap cases
    cdot cdots chi circ cong cos cosh cot cup ddot ddots deg delta Delta det dfrac dim displaystyle div dot dots ell
    emptyset end epsilon equiv eta exists exp forall frac gamma Gamma gcd ge geq gg hat hbar hline hspace iff iiint
    iint implies in inf infty int kappa ker lambda Lambda land langle lceil ldots le left Leftarrow leftarrow
    Leftrightarrow leftrightarrow leq lfloor lg lim liminf limits limsup ll ln lnot log longrightarrow lor mapsto
    mathbb mathbf mathbin mathcal mathfrak mathit mathop mathrm mathsf matrix max mid middle min mod models mp mu
    nabla ne neg neq ni nolimits not notin nu odot oint omega Omega oplus operatorname otimes overbrace overline
    parallel partial perp phi Phi pi Pi pm pmatrix pmod Pr prime prod propto psi Psi qquad quad rangle rceil Re
    rfloor rho right Rightarrow rightarrow rm setminus sigma Sigma sim simeq sin sinh sqrt star subset subseteq sum
    sup supset supseteq tan tanh tau text textbf textit textrm textstyle tfrac therefore theta Theta tilde times to
    top triangle underbrace underline upsilon varepsilon varphi varrho vartheta vdots vec vee Vert vert wedge
    widehat widetilde wp xi Xi zeta
    """
)
"""Commands of formulas that set type. Left out are those that style, link or load: `style`, `class`, `href`."""


def is_picture(target: str) -> bool:
    """True for an address of a picture that can be nothing but a file in the vault."""
    return _PICTURE.fullmatch(unquote(target)) is not None


def is_embedded_picture(target: str) -> bool:
    """True for the target of an embed (`![[…]]`), with its size, that is a picture in the vault."""
    found = _EMBEDDED.match(target)
    return found is not None and is_picture(found[0].strip())


def is_link(address: str) -> bool:
    """True for an address of the web, of mail, or of a note in the vault."""
    return _WEB.fullmatch(address) is not None or _NOTE.fullmatch(unquote(address)) is not None


def is_plain_html(markup: str) -> bool:
    """True if all tags are plain ones, such as `<br>`, without attributes."""
    return "<" not in _TAGS.sub("", markup)


def is_code(content: str) -> bool:
    """True for inline code that no plugin takes for a query."""
    return _QUERY.match(content) is None


def is_formula(text: str) -> bool:
    """True if the formulas that may be in the text set type and do nothing else."""
    return all(len(name) == 1 or name in _TEX for name in _COMMAND.findall(text))
