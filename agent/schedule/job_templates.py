"""The jobs that the package has ready: none is in a vault before its person switches it on."""

from pathlib import PurePosixPath

from agent.config.resources import resource
from agent.markdown.note import Note
from agent.schedule.job import Job
from agent.schedule.job_header import parse_job
from agent.schedule.new_job import NewJob
from agent.texts import Language
from agent.vault.folders import JOBS, AgentFolder
from agent.vault.template import read_template


def job_templates(home: AgentFolder, language: Language) -> tuple[NewJob, ...]:
    """The jobs as they would be in a vault, active, sorted by id."""
    files = read_template(resource("vault_template"), language)
    found: list[NewJob] = []
    for path in (each for each in files if each.startswith(JOBS)):
        data = Note.parse(files[path]).with_key("status", "active").data
        job = parse_job(home.at(path), data)
        if isinstance(job, Job):
            found.append(NewJob(job, data))
    return tuple(sorted(found, key=lambda each: each.job.id))


def find_template(home: AgentFolder, language: Language, name: str) -> NewJob | None:
    """The ready job of this id, note or title."""
    wanted = PurePosixPath(name.removesuffix(".md")).name.casefold()
    ready = job_templates(home, language)
    return next((each for each in ready if wanted in {each.job.id.casefold(), each.job.title.casefold()}), None)
