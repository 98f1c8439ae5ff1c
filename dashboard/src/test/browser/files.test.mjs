import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { exec, openPage, sandbox, signIn } from './setup.mjs';

const PDF = '%PDF-1.1\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]>>endobj\ntrailer<</Root 1 0 R>>\n';

test('files: upload, edit, preview, rename, download, remove', async () => {
  const { id } = await sandbox();
  const { page, close } = await openPage({ expected: /401/ });
  await signIn(page, { at: `sandboxes/${id}/files` });

  await page.locator('input[type=file]').setInputFiles([
    { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('first\n') },
    { name: 'paper.pdf', mimeType: 'application/pdf', buffer: Buffer.from(PDF) }]);
  await page.getByText('2 files are uploaded').waitFor();

  const transfer = await page.evaluateHandle(() => {
    const data = new DataTransfer();
    data.items.add(new File(['dropped\n'], 'dropped.txt', { type: 'text/plain' }));
    return data;
  });
  await page.dispatchEvent('.drop', 'drop', { dataTransfer: transfer });
  await page.getByText('dropped.txt is uploaded').waitFor();
  assert.equal((await exec(id, 'cat dropped.txt')).stdout, 'dropped\n');

  await page.getByRole('button', { name: 'notes.txt' }).click();
  await page.getByLabel('Content of notes.txt').fill('second\n');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('notes.txt is saved').waitFor();
  assert.equal((await exec(id, 'cat notes.txt')).stdout, 'second\n');

  await page.getByRole('button', { name: 'paper.pdf' }).click();
  assert.match(await page.locator('iframe.paper').getAttribute('src'), /^blob:/);
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('dialog').getByRole('link', { name: 'Download' }).click()]);
  assert.equal((await readFile(await download.path())).toString(), PDF);
  await page.keyboard.press('Escape');

  await page.getByRole('row', { name: /notes\.txt/ }).getByRole('button', { name: 'Rename' }).click();
  await page.getByLabel('Name', { exact: true }).fill('renamed.txt');
  await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click();
  await page.getByRole('button', { name: 'renamed.txt' }).waitFor();

  await page.getByRole('row', { name: /renamed\.txt/ }).getByRole('button', { name: 'Remove' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  await page.getByRole('button', { name: 'renamed.txt' }).waitFor({ state: 'detached' });

  await exec(id, 'echo outside > from-a-command.txt');
  await page.getByRole('button', { name: 'from-a-command.txt' }).waitFor();
  await close();
});

test('a large upload arrives whole', async () => {
  const { id } = await sandbox();
  const { page, close } = await openPage({ expected: /401/ });
  await signIn(page, { at: `sandboxes/${id}/files` });
  await page.locator('input[type=file]').setInputFiles({ name: 'large.bin', mimeType: 'application/octet-stream', buffer: Buffer.alloc(5_000_000, 7) });
  await page.getByText('large.bin is uploaded').waitFor();
  assert.equal((await exec(id, 'stat -c %s large.bin')).stdout.trim(), '5000000');
  await page.getByRole('button', { name: 'large.bin' }).click();
  await page.getByText('too much to show here').waitFor();
  await close();
});
