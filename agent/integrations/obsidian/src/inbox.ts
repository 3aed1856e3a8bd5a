// Requests as notes: where no daemon can be reached, such as on a phone, a note in the agent's inbox asks it.

import { App, normalizePath, parseYaml, TFile } from "obsidian";

const SETTINGS = "vault-agent.yaml";
const HEADER = "---\nagent: ask\n---\n\n";
const LONGEST = 50;

/** The folder for requests: `inbox`, below the agent's own folder where the vault's settings name one. */
export async function inboxFolder(app: App): Promise<string> {
	try {
		const said: unknown = parseYaml(await app.vault.adapter.read(SETTINGS));
		const vault = said && typeof said === "object" ? (said as { vault?: unknown }).vault : undefined;
		const folder = vault && typeof vault === "object" ? (vault as { folder?: unknown }).folder : undefined;
		return normalizePath(typeof folder === "string" ? `${folder}/inbox` : "inbox");
	} catch {
		return "inbox";
	}
}

/** Leave a request as a note under a name that is free. */
export async function leaveNote(app: App, request: string): Promise<TFile> {
	const folder = await inboxFolder(app);
	if (!app.vault.getAbstractFileByPath(folder)) await app.vault.createFolder(folder);
	const words = request.replace(/[\\/:*?"<>|#^[\]\s.]+/g, " ").trim();
	const name = `${folder}/${today()} ${[...words].slice(0, LONGEST).join("").trim() || "request"}`;
	let path = `${name}.md`;
	for (let number = 2; app.vault.getAbstractFileByPath(path); number++) path = `${name} ${number}.md`;
	return app.vault.create(path, `${HEADER}${request}\n`);
}

function today(): string {
	const now = new Date();
	const two = (number: number): string => String(number).padStart(2, "0");
	return `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`;
}
