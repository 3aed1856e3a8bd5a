// Requests to the daemon. Obsidian sends them itself (requestUrl), so no page of the web can send the same.

import { requestUrl, RequestUrlResponse } from "obsidian";
import { Connection } from "./connection";
import { text } from "./texts";
import { Paired, Problem, RunEvent } from "./types";

/** The daemon cannot be reached. */
export class Offline extends Error {}

/** The daemon has refused a request; the message says why and what helps. */
export class Refused extends Error {
	constructor(
		readonly status: number,
		message: string,
	) {
		super(message);
	}
}

export class Api {
	constructor(private readonly connection: Connection) {}

	async get<T>(path: string, query: Record<string, string> = {}): Promise<T> {
		const words = new URLSearchParams(query).toString();
		return (await this.send("GET", words ? `${path}?${words}` : path)).json as T;
	}

	async post<T>(path: string, body: unknown): Promise<T> {
		return (await this.send("POST", path, body)).json as T;
	}

	/** The events of a run after the one with this id: those that are there, or that come in the next seconds. */
	async events(run: string, after: string): Promise<RunEvent[]> {
		const path = `/api/v1/runs/${encodeURIComponent(run)}/events?once=true`;
		return parseEvents((await this.send("GET", path, undefined, { "Last-Event-ID": after })).text);
	}

	/** Change a pairing code for a key of this device's own. */
	async pair(code: string, name: string): Promise<Paired> {
		return (await this.send("POST", "/pair", { code, name }, { Authorization: "" })).json as Paired;
	}

	/** End this device's sign-in at the daemon, too. */
	async signOut(): Promise<void> {
		await this.send("DELETE", "/pair");
	}

	private async send(
		method: string,
		path: string,
		body?: unknown,
		more: Record<string, string> = {},
	): Promise<RequestUrlResponse> {
		const headers: Record<string, string> = { Authorization: `Bearer ${this.connection.token}`, ...more };
		if (!headers.Authorization) delete headers.Authorization;
		if (method === "POST" && path !== "/pair") headers["Idempotency-Key"] = crypto.randomUUID();
		let response: RequestUrlResponse;
		try {
			response = await requestUrl({
				url: this.connection.address + path,
				method,
				headers,
				contentType: body === undefined ? undefined : "application/json",
				body: body === undefined ? undefined : JSON.stringify(body),
				throw: false,
			});
		} catch {
			throw new Offline(text("offline", { address: this.connection.address }));
		}
		if (response.status >= 400) throw new Refused(response.status, reason(response));
		return response;
	}
}

function reason(response: RequestUrlResponse): string {
	if (response.status === 401) return text("ended");
	let problem: Problem = {};
	try {
		problem = response.json as Problem;
	} catch {
		// no document of the daemon's
	}
	return [problem.detail ?? String(response.status), problem.hint].filter(Boolean).join(" · ");
}

/** The events in a text of the form text/event-stream, as the daemon writes it: one line of data each. */
export function parseEvents(stream: string): RunEvent[] {
	const found: RunEvent[] = [];
	for (const block of stream.split("\n\n")) {
		const event: RunEvent = { id: "", name: "", data: {} };
		for (const line of block.split("\n")) {
			const at = line.indexOf(": ");
			const value = line.slice(at + 2);
			if (line.startsWith("event: ")) event.name = value;
			else if (line.startsWith("id: ")) event.id = value;
			else if (line.startsWith("data: ")) event.data = (JSON.parse(value) ?? {}) as Record<string, unknown>;
		}
		if (event.name) found.push(event);
	}
	return found;
}

/** A path of the vault in an address. */
export function inAddress(path: string): string {
	return path.split("/").map(encodeURIComponent).join("/");
}
