// Makes main.js of the sources. `--check` writes nothing, and fails if the file is not what the sources give.
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import esbuild from "esbuild";

const sources = readdirSync("src").sort();
const hash = createHash("sha256");
for (const name of sources) hash.update(`${name}\0`).update(readFileSync(`src/${name}`)).update("\0");

const built = await esbuild.build({
	entryPoints: ["src/main.ts"],
	bundle: true,
	write: false,
	format: "cjs",
	target: "es2022",
	charset: "utf8",
	minify: true,
	external: ["obsidian"],
	logLevel: "warning",
	banner: { js: `/* Made of src/ by build.mjs; change it there. Sources: ${hash.digest("hex")} */` },
});
const made = built.outputFiles[0].text;
if (!process.argv.includes("--check")) {
	writeFileSync("main.js", made);
} else if (readFileSync("main.js", "utf8") !== made) {
	console.error("main.js is not what its sources give: npm run build makes it anew");
	process.exit(1);
}
