// The values of the daemon's API that the plugin reads; /openapi.json describes them all.

export interface CitedLines {
	path: string;
	lines: number[];
}

export interface RunResult {
	answer: string;
	outcome: string;
	reason: string | null;
	hint: string | null;
	waits_for: string | null;
	also_waits_for: string[];
	remarks: string[];
	session: string;
	sources: CitedLines[];
	used: CitedLines[];
}

export interface RunState {
	id: string;
	session: string;
}

/** Who goes on with a run that was answered: `run` is its id if it can be followed. */
export interface Following {
	run: string | null;
	goes_on: string;
}

export interface Approval {
	path: string;
}

export interface Question {
	path: string;
	question: string;
	options: string[];
}

export interface OtherNeed {
	kind: string;
	title: string;
	path: string | null;
	command: string | null;
}

export interface Needs {
	approvals: Approval[];
	questions: Question[];
	others: OtherNeed[];
	stopped: string | null;
}

export interface Passage {
	path: string;
	title: string;
	lines: number[];
	text: string;
}

export interface LoggedCommit {
	commit: string;
	when: string;
	actor: string;
	subject: string;
	undoes: string[];
	files: { kind: string; path: string }[];
}

export interface UndoReport {
	commit: string | null;
	files: { path: string }[];
	refused: { path: string; reason: string }[];
	conflicts: string[];
	queued: string | null;
}

export interface Paired {
	token: string;
	vault: string;
	inbox: string;
}

export interface Problem {
	detail?: string;
	hint?: string;
}

/** One event of a run: its number, its name and its data. */
export interface RunEvent {
	id: string;
	name: string;
	data: Record<string, unknown>;
}

/** A note, or some lines of it, that a question is about. */
export interface About {
	path: string;
	lines?: [number, number];
}
