// A stand-in of Obsidian's API, by hand: what the plugin uses of it, with the names and the behaviour of obsidian.d.ts.
"use strict";

const made = (tag, options = {}) => {
	const element = document.createElement(tag);
	const { text, cls, attr = {}, type } = typeof options === "string" ? { cls: options } : options;
	if (text !== undefined) element.textContent = text;
	if (cls) element.className = cls;
	if (type) element.type = type;
	for (const [name, value] of Object.entries(attr)) element.setAttribute(name, value);
	return element;
};
Object.assign(HTMLElement.prototype, {
	createEl(tag, options) {
		return this.appendChild(made(tag, options));
	},
	createDiv(options) {
		return this.createEl("div", options);
	},
	createSpan(options) {
		return this.createEl("span", options);
	},
	empty() {
		this.replaceChildren();
	},
	setText(text) {
		this.textContent = text;
	},
	appendText(text) {
		this.append(document.createTextNode(text));
	},
	addClass(...names) {
		this.classList.add(...names);
	},
	toggle(show) {
		this.style.display = show ? "" : "none";
	},
});
window.activeDocument = document;

class Events {
	heard = [];
	on(name, call) {
		this.heard.push([name, call]);
		return {};
	}
	trigger(name, ...values) {
		for (const [each, call] of this.heard) if (each === name) call(...values);
	}
}

class TFile {
	constructor(path) {
		this.path = path;
		this.extension = path.split(".").pop();
		this.basename = path.split("/").pop().replace(/\.md$/, "");
	}
}

class MarkdownView {
	constructor(file, editor) {
		Object.assign(this, { file, editor, containerEl: document.body, saved: 0 });
	}
	async save() {
		this.saved += 1;
	}
}

/** An editor with a text; `selected` are its first and last line, from 0, and the cursor is in the last. */
class Editor {
	constructor(text) {
		Object.assign(this, { lines: text.split("\n"), selected: [0, 0], isSelected: false });
	}
	getCursor(side) {
		return { line: this.selected[side === "from" ? 0 : 1], ch: 0 };
	}
	getLine(number) {
		return this.lines[number];
	}
	lastLine() {
		return this.lines.length - 1;
	}
	getRange(from, to) {
		return this.lines.slice(from.line, to.line + 1).join("\n");
	}
	somethingSelected() {
		return this.isSelected;
	}
}

class Plugin {
	constructor(app, manifest) {
		Object.assign(this, { app, manifest, commands: [] });
	}
	registerView(type, maker) {
		this.app.workspace.makers[type] = maker;
	}
	registerHoverLinkSource() {}
	addRibbonIcon() {}
	addSettingTab(tab) {
		this.app.setting.tab = tab;
	}
	addCommand(command) {
		this.commands.push(command);
	}
	addStatusBarItem() {
		return document.getElementById("status");
	}
	registerDomEvent(element, name, call) {
		element.addEventListener(name, call);
	}
	registerEvent() {}
	registerInterval() {}
}

class ItemView {
	constructor(leaf) {
		Object.assign(this, { leaf, app: leaf.app, contentEl: document.getElementById("pane") });
	}
}

class PluginSettingTab {
	constructor(app) {
		Object.assign(this, { app, containerEl: document.getElementById("settings") });
	}
}

class Button {
	constructor(parent) {
		this.buttonEl = parent.createEl("button");
	}
	setButtonText(text) {
		this.buttonEl.textContent = text;
		return this;
	}
	setCta() {
		return this;
	}
	setDisabled(off) {
		this.buttonEl.disabled = off;
		return this;
	}
	onClick(call) {
		this.buttonEl.addEventListener("click", call);
		return this;
	}
}

class TextField {
	constructor(parent) {
		this.inputEl = parent.createEl("input", { type: "text" });
	}
	getValue() {
		return this.inputEl.value;
	}
	setValue(value) {
		this.inputEl.value = value;
		return this;
	}
	onChange(call) {
		this.inputEl.addEventListener("input", () => call(this.inputEl.value));
		return this;
	}
}

class Setting {
	constructor(parent) {
		this.settingEl = parent.createDiv();
	}
	setName(text) {
		this.settingEl.createDiv({ text });
		return this;
	}
	setDesc(text) {
		this.settingEl.createDiv({ text });
		return this;
	}
	addText(call) {
		call(new TextField(this.settingEl));
		return this;
	}
	addButton(call) {
		call(new Button(this.settingEl));
		return this;
	}
}

class Modal {
	constructor(app) {
		this.app = app;
		this.modalEl = made("div", { attr: { role: "dialog" } });
		this.titleEl = this.modalEl.createEl("h2");
		this.contentEl = this.modalEl.createDiv();
	}
	setTitle(text) {
		this.titleEl.textContent = text;
	}
	open() {
		document.body.append(this.modalEl);
		this.onOpen();
	}
	close() {
		this.modalEl.remove();
		this.onClose();
	}
}

class Notice {
	constructor(text) {
		document.getElementById("notices").createDiv({ text });
	}
}

/** A menu, as a list of buttons at the place of the notices. */
class Menu {
	addItem(call) {
		const button = document.getElementById("menu").createEl("button");
		const item = {
			setTitle(text) {
				button.textContent = text;
				return item;
			},
			setIcon: () => item,
			onClick(deed) {
				button.addEventListener("click", deed);
				return item;
			},
		};
		call(item);
	}
}

const asked = async (path, body) => {
	const response = await fetch(path, { method: "POST", body: JSON.stringify(body) });
	return response.json();
};

const obsidian = {
	Plugin, ItemView, PluginSettingTab, Setting, Modal, Notice, TFile, MarkdownView,
	Platform: { isMobile: location.search.includes("mobile"), isLinux: true },
	Keymap: { isModEvent: () => false },
	getLanguage: () => new URLSearchParams(location.search).get("language") ?? "en",
	normalizePath: (path) => path.split("/").filter((each) => each && each !== ".").join("/"),
	parseYaml: (text) => {
		const folder = /^ +folder: *(.+)$/m.exec(text)?.[1];
		return folder ? { vault: { folder } } : {};
	},
	debounce: (call) => {
		let timer = 0;
		return () => {
			clearTimeout(timer);
			timer = setTimeout(call, 50);
		};
	},
	async requestUrl(wanted) {
		const found = await asked("/request", wanted); // sent outside of the page, as Obsidian does
		if (found.error) throw new Error(found.error);
		return { ...found, get json() { return JSON.parse(found.text); } };
	},
};

const kept = (name) => `vault:${name}`;
class Workspace extends Events {
	makers = {};
	leaves = [];
	opened = [];
	view = null;
	onLayoutReady(call) {
		call();
	}
	getLeavesOfType() {
		return this.leaves;
	}
	getRightLeaf() {
		const leaf = { app, setViewState: async ({ type }) => {
			if (leaf.view) return;
			leaf.view = this.makers[type](leaf);
			this.leaves.push(leaf);
			await leaf.view.onOpen();
		} };
		return leaf;
	}
	async revealLeaf() {}
	getActiveFile() {
		return this.view?.file ?? null;
	}
	getActiveViewOfType() {
		return this.view;
	}
	async openLinkText(note, source, pane, state) {
		this.opened.push([note, state?.eState?.line ?? null]);
	}
}

const app = {
	workspace: new Workspace(),
	vault: {
		files: new Set(),
		getName: () => document.body.dataset.vault,
		getAbstractFileByPath: (path) => (app.vault.files.has(path) ? new TFile(path) : null),
		async createFolder(path) {
			app.vault.files.add(path);
		},
		async create(path, text) {
			await asked("/create", { path, text });
			app.vault.files.add(path);
			return new TFile(path);
		},
		adapter: { read: async (path) => (await asked("/read", { path })).text },
	},
	secretStorage: {
		setSecret(name, value) {
			if (!/^[a-z0-9-]+$/.test(name)) throw new Error("no name of a secret");
			localStorage.setItem(`secret:${name}`, value);
		},
		getSecret: (name) => localStorage.getItem(`secret:${name}`),
	},
	loadLocalStorage: (name) => JSON.parse(localStorage.getItem(kept(name))),
	saveLocalStorage: (name, value) => localStorage.setItem(kept(name), JSON.stringify(value)),
	setting: { open() {}, openTabById() { app.setting.tab.display(); } },
};

window.startPlugin = async () => {
	const plugin = new window.pluginClass(app, { id: "vault-agent" });
	window.standIn = {
		app, plugin,
		run(id) {
			const command = plugin.commands.find((each) => each.id === id);
			const { view } = app.workspace;
			if (command.callback) command.callback();
			else if (command.checkCallback) command.checkCallback(false);
			else command.editorCallback(view.editor, view);
		},
		write(path, text, from, to) {
			const editor = new Editor(text);
			editor.isSelected = from !== undefined;
			editor.selected = [from ?? 0, to ?? 0];
			app.workspace.view = new MarkdownView(new TFile(path), editor);
			app.workspace.trigger("editor-change");
		},
		menu(path) {
			app.workspace.trigger("file-menu", new Menu(), new TFile(path));
		},
		editorMenu() {
			app.workspace.trigger("editor-menu", new Menu(), app.workspace.view.editor, app.workspace.view);
		},
	};
	await plugin.onload();
};
window.module = { exports: {} };
window.exports = window.module.exports;
window.require = (name) => {
	if (name !== "obsidian") throw new Error(`the plugin asks for ${name}`);
	return obsidian;
};
