// The plugin: its pane, its commands, what it adds to the menus of notes, and the line in the status bar.

import { debounce, Editor, MarkdownFileInfo, MarkdownView, Platform, Plugin, TFile } from "obsidian";
import { Api, Refused } from "./api";
import { Connection } from "./connection";
import { VIEW_TYPE } from "./links";
import { AgentPane } from "./pane";
import { AgentSettings } from "./settings";
import { text } from "./texts";
import { About, Needs } from "./types";
import { offerUndo } from "./undo";

const LOOK_MS = 20_000;
const WRITING_MS = 1_500;

/** What the daemon last said: what waits, or why it could not be asked. */
interface Status {
	needs: Needs | null;
	problem: string;
}

export default class VaultAgentPlugin extends Plugin {
	connection!: Connection;
	api!: Api;
	status: Status = { needs: null, problem: "" };
	private bar: HTMLElement | null = null;
	private isWorking = false;

	async onload(): Promise<void> {
		this.connection = new Connection(this.app);
		this.api = new Api(this.connection);
		this.registerView(VIEW_TYPE, (leaf) => new AgentPane(leaf, this));
		this.registerHoverLinkSource(VIEW_TYPE, { display: text("pane"), defaultMod: false });
		this.addRibbonIcon("message-circle", text("open"), () => void this.openPane());
		this.addSettingTab(new AgentSettings(this.app, this));
		this.addCommands();
		this.addMenus();
		if (Platform.isMobile) return;
		this.bar = this.addStatusBarItem();
		this.bar.addClass("mod-clickable");
		this.registerDomEvent(this.bar, "click", () => void this.openPane());
		this.followNotes();
		this.app.workspace.onLayoutReady(() => void this.refresh());
		this.registerInterval(window.setInterval(() => void this.look(), LOOK_MS));
	}

	/** Ask the daemon what waits, and show it. */
	async refresh(): Promise<void> {
		if (Platform.isMobile) return;
		if (!this.connection.token) {
			this.status = { needs: null, problem: "" };
		} else {
			try {
				this.status = { needs: await this.api.get<Needs>("/api/v1/needs"), problem: "" };
			} catch (error) {
				if (error instanceof Refused && error.status === 401) this.connection.signOut();
				this.status = { needs: null, problem: (error as Error).message };
			}
		}
		this.showBar();
		for (const pane of this.panes()) await pane.showState();
	}

	setWorking(isWorking: boolean): void {
		this.isWorking = isWorking;
		this.showBar();
	}

	openSettings(): void {
		const { setting } = this.app as unknown as { setting: { open(): void; openTabById(id: string): void } };
		setting.open();
		setting.openTabById(this.manifest.id);
	}

	/** Show the pane, at the right if it is not there yet. */
	async openPane(): Promise<AgentPane | null> {
		const { workspace } = this.app;
		const leaf = workspace.getLeavesOfType(VIEW_TYPE)[0] ?? workspace.getRightLeaf(false);
		if (!leaf) return null;
		await leaf.setViewState({ type: VIEW_TYPE, active: true });
		await workspace.revealLeaf(leaf);
		return leaf.view instanceof AgentPane ? leaf.view : null;
	}

	private panes(): AgentPane[] {
		const views = this.app.workspace.getLeavesOfType(VIEW_TYPE).map((leaf) => leaf.view);
		return views.filter((view) => view instanceof AgentPane);
	}

	private addCommands(): void {
		this.addCommand({ id: "open", name: text("open"), callback: () => void this.openPane() });
		this.addCommand({
			id: "ask-note",
			name: text("askNote"),
			checkCallback: (checking) => this.withNote(checking, (file) => this.askAbout({ path: file.path })),
		});
		this.addCommand({
			id: "ask-selection",
			name: text("askSelection"),
			editorCallback: (editor, info) => void this.askSelection(editor, info),
		});
		this.addCommand({
			id: "undo-last",
			name: text("undoLast"),
			checkCallback: (checking) => this.withNote(checking, (file) => offerUndo(this.app, this.api, file)),
		});
	}

	private withNote(checking: boolean, deed: (file: TFile) => Promise<void>): boolean {
		const file = this.app.workspace.getActiveFile();
		if (file && !checking) void deed(file);
		return file !== null;
	}

	private addMenus(): void {
		const { workspace } = this.app;
		this.registerEvent(
			workspace.on("file-menu", (menu, file) => {
				if (!(file instanceof TFile) || file.extension !== "md") return;
				menu.addItem((item) =>
					item
						.setTitle(text("askNote"))
						.setIcon("message-circle")
						.onClick(() => void this.askAbout({ path: file.path })),
				);
				if (Platform.isMobile) return;
				menu.addItem((item) =>
					item
						.setTitle(text("undoLast"))
						.setIcon("undo-2")
						.onClick(() => void offerUndo(this.app, this.api, file)),
				);
			}),
		);
		this.registerEvent(
			workspace.on("editor-menu", (menu, editor, info) => {
				if (!editor.somethingSelected()) return;
				menu.addItem((item) =>
					item
						.setTitle(text("askSelection"))
						.setIcon("message-circle")
						.onClick(() => void this.askSelection(editor, info)),
				);
			}),
		);
	}

	private async askSelection(editor: Editor, info: MarkdownView | MarkdownFileInfo): Promise<void> {
		if (!info.file) return;
		if (info instanceof MarkdownView) await info.save(); // the agent reads the file
		const [from, to] = [editor.getCursor("from").line + 1, editor.getCursor("to").line + 1];
		await this.askAbout({ path: info.file.path, lines: [from, to] });
	}

	private async askAbout(about: About): Promise<void> {
		(await this.openPane())?.askAbout(about);
	}

	private followNotes(): void {
		const { workspace } = this.app;
		const look = debounce(() => void this.lookForRelated(), WRITING_MS, true);
		this.registerEvent(workspace.on("editor-change", look));
		this.registerEvent(workspace.on("file-open", look));
		this.registerEvent(workspace.on("active-leaf-change", look));
	}

	private async lookForRelated(): Promise<void> {
		for (const pane of this.panes()) await pane.lookForRelated();
	}

	/** Look at the daemon, unless nobody sees it. */
	private async look(): Promise<void> {
		if (activeDocument.hidden || !this.connection.token) return;
		await this.refresh();
	}

	private showBar(): void {
		const { needs, problem } = this.status;
		const count = needs ? needs.approvals.length + needs.questions.length + needs.others.length : 0;
		let said = text("statusReady");
		if (!this.connection.token) said = text("statusOut");
		else if (problem) said = text("statusOffline");
		else if (count) said = text("statusNeeds", { count });
		else if (this.isWorking) said = text("statusWorks");
		this.bar?.setText(said);
		this.bar?.setAttribute("aria-label", problem || text("open"));
	}
}
