"""Skills: what there is, what would be used for a task, how they did; and trust, which is a person's to give."""

from agent.deeds.skills import distrust_skill, list_skills, match_skills, show_skill
from agent.interfaces.http.api.paging import listed
from agent.interfaces.http.operation import Routes

ROUTES = Routes("/api/v1/skills")
ROUTES.get("", "The skills")(listed("Skills", "skills", list_skills, lambda each: each.path))
ROUTES.get("/match", "What fits a task")(match_skills)
ROUTES.get("/{name}", "One skill", 404)(show_skill)
ROUTES.post("/{name}/revoke", "Trust a skill no more", 404, 409)(distrust_skill)
