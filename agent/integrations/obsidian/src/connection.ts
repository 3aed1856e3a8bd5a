// The address of the daemon and the key for it, both of this device: nothing of them is a file in the vault.

import { App } from "obsidian";

const KEY = "vault-agent-connection";
export const USUAL_ADDRESS = "http://127.0.0.1:8765";
const THIS_MACHINE = new Set(["127.0.0.1", "localhost", "[::1]"]);

interface Stored {
	address: string;
	vault: string;
	secret: string;
}

/** The connection of this vault on this device. */
export class Connection {
	constructor(private readonly app: App) {}

	get address(): string {
		return this.stored().address || USUAL_ADDRESS;
	}

	/** The name of the vault that the daemon serves; empty before it was paired. */
	get vault(): string {
		return this.stored().vault;
	}

	get token(): string {
		const { secret } = this.stored();
		return (secret && this.app.secretStorage.getSecret(secret)) || "";
	}

	setAddress(address: string): void {
		this.store({ ...this.stored(), address });
	}

	signIn(token: string, vault: string): void {
		const found = this.stored();
		// The storage of secrets may be that of all vaults of this device, so each has a name of its own there.
		const secret = found.secret || `vault-agent-${crypto.randomUUID()}`;
		this.app.secretStorage.setSecret(secret, token);
		this.store({ ...found, vault, secret });
	}

	signOut(): void {
		const found = this.stored();
		if (found.secret) this.app.secretStorage.setSecret(found.secret, "");
		this.store({ ...found, vault: "" });
	}

	private stored(): Stored {
		const found = this.app.loadLocalStorage(KEY) as Partial<Stored> | null;
		return { address: found?.address ?? "", vault: found?.vault ?? "", secret: found?.secret ?? "" };
	}

	private store(value: Stored): void {
		this.app.saveLocalStorage(KEY, value);
	}
}

/** The address as it is kept; null for one to which a key would go unprotected, or that is none. */
export function plainAddress(typed: string): string | null {
	let url: URL;
	try {
		url = new URL(typed.trim());
	} catch {
		return null;
	}
	const isSafe = url.protocol === "https:" || (url.protocol === "http:" && THIS_MACHINE.has(url.hostname));
	return isSafe && !url.username && !url.password ? url.origin : null;
}
