// The settings: where the daemon is, and the sign-in of this device by a pairing code.

import { App, Notice, Platform, PluginSettingTab, Setting } from "obsidian";
import { plainAddress } from "./connection";
import { inboxFolder } from "./inbox";
import type VaultAgentPlugin from "./main";
import { text } from "./texts";

export class AgentSettings extends PluginSettingTab {
	constructor(
		app: App,
		private readonly plugin: VaultAgentPlugin,
	) {
		super(app, plugin);
	}

	display(): void {
		const { connection } = this.plugin;
		this.containerEl.empty();
		if (Platform.isMobile) {
			const line = this.containerEl.createEl("p");
			void inboxFolder(this.app).then((folder) => line.setText(text("mobile", { folder })));
			return;
		}
		if (connection.token) {
			new Setting(this.containerEl)
				.setName(text("connected"))
				.setDesc(text("connectedAbout", { vault: connection.vault }))
				.addButton((button) =>
					button.setButtonText(text("disconnect")).onClick(() => void this.disconnect()),
				);
		}
		this.address();
		if (!connection.token) this.code();
	}

	private address(): void {
		const { connection } = this.plugin;
		new Setting(this.containerEl)
			.setName(text("address"))
			.setDesc(text("addressAbout"))
			.addText((field) => {
				field.setValue(connection.address);
				field.inputEl.setAttribute("aria-label", text("address"));
				field.inputEl.addEventListener("change", () => {
					const address = plainAddress(field.getValue());
					if (address === null) {
						new Notice(text("addressBad"));
						field.setValue(connection.address);
						return;
					}
					connection.setAddress(address);
					field.setValue(address);
					void this.plugin.refresh();
				});
			});
	}

	private code(): void {
		let typed = "";
		new Setting(this.containerEl)
			.setName(text("code"))
			.setDesc(text("codeAbout"))
			.addText((field) => {
				field.onChange((value) => (typed = value));
				field.inputEl.setAttribute("aria-label", text("code"));
			})
			.addButton((button) =>
				button
					.setButtonText(text("connect"))
					.setCta()
					.onClick(() => void this.connect(typed)),
			);
	}

	private async connect(code: string): Promise<void> {
		if (!code.trim()) return;
		const { api, connection } = this.plugin;
		try {
			const paired = await api.pair(code, deviceName());
			const here = this.app.vault.getName();
			connection.signIn(paired.token, paired.vault);
			if (paired.vault !== here) {
				await this.forget();
				new Notice(text("otherVault", { other: paired.vault, here }), 10_000);
				return;
			}
		} catch (error) {
			new Notice(text("failed", { why: (error as Error).message }), 10_000);
			return;
		}
		await this.plugin.refresh();
		this.display();
	}

	private async disconnect(): Promise<void> {
		await this.forget();
		await this.plugin.refresh();
		this.display();
	}

	/** End the sign-in there if the daemon can be reached, and here in any case. */
	private async forget(): Promise<void> {
		const { api, connection } = this.plugin;
		try {
			await api.signOut();
		} catch {
			// The daemon is away or has ended it before; the key is forgotten here, and "serve browsers" lists it there.
		}
		connection.signOut();
	}
}

function deviceName(): string {
	if (Platform.isMacOS) return "Obsidian, macOS";
	if (Platform.isWin) return "Obsidian, Windows";
	return Platform.isLinux ? "Obsidian, Linux" : "Obsidian";
}
