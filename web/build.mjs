// Writes the page's bundle to hydramem/view/static. The same sources give the same bytes on every machine.
import { existsSync } from 'node:fs';
import { copyFile, mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const out = join(here, '..', 'hydramem', 'view', 'static');
// A classic script, since a page opened from a folder (the export) loads no modules.
const options = {
  absWorkingDir: here,
  bundle: true,
  minify: true,
  format: 'iife',
  target: ['es2022'],
  charset: 'utf8',
  legalComments: 'none',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  define: { 'process.env.NODE_ENV': '"production"' },
  logLevel: 'warning',
  metafile: true,
  outdir: out,
};

/** Return the text of the licence that a package ships, or fail: nothing is bundled without one. */
async function licenceOf(folder) {
  const name = (await readdir(folder)).find((file) => /^licen[cs]e/i.test(file));
  if (!name) throw new Error(`${folder}: no licence`);
  return (await readFile(join(folder, name), 'utf8')).replaceAll('\r\n', '\n').trim();
}

/** Return the licences of every package whose code is in the bundle, by name. */
async function licences(results) {
  const files = results.flatMap((result) => Object.keys(result.metafile.inputs));
  const names = files.flatMap((file) => file.match(/^node_modules\/((?:@[^/]+\/)?[^/]+)\//)?.[1] ?? []);
  const parts = [];
  for (const name of [...new Set(names)].sort()) {
    const folder = join(here, 'node_modules', name);
    const { version, license } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
    parts.push(`${name} ${version} (${license})\n\n${await licenceOf(folder)}\n`);
  }
  return parts.join(`\n${'-'.repeat(80)}\n\n`);
}

await mkdir(out, { recursive: true });
const scripts = [{ app: 'src/main.tsx' }, { app: 'src/styles/app.css' }];
if (existsSync(join(here, 'src', 'layout.worker.ts'))) scripts.push({ worker: 'src/layout.worker.ts' });
const results = [];
for (const entryPoints of scripts) results.push(await build({ ...options, entryPoints }));
await copyFile(join(here, 'index.html'), join(out, 'index.html'));
await writeFile(join(out, 'licenses.txt'), await licences(results));
