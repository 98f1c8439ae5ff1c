import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, test } from 'node:test'
import { Sandbox, Template, waitForFile } from 'e2b'

const made = []
afterEach(() => Promise.all(made.splice(0).map((one) => one.kill())))

test('a template is built from instructions', { timeout: 300_000 }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'isola-template-'))
  t.after(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'app.txt'), 'copied in')
  const template = Template({ fileContextPath: folder })
    .fromTemplate('base')
    .setEnvs({ GREETING: 'hello' })
    .copy('app.txt', '/opt/app/app.txt')
    .setWorkdir('/opt/app')
    .runCmd('echo "made by $(id -un) with $GREETING" > /home/user/made.txt')
    .setStartCmd('echo started > /tmp/started; sleep 1000', waitForFile('/tmp/started'))
  const lines = []
  await Template.build(template, 'isola-tested', { onBuildLogs: (line) => lines.push(line.message) })
  assert.ok(lines.some((line) => line.includes('RUN')), lines.join('\n'))
  assert.equal(await Template.exists('isola-tested'), true)
  assert.equal(await Template.exists('never-built'), false)
  const sandbox = await Sandbox.create('isola-tested')
  made.push(sandbox)
  assert.equal(await sandbox.files.read('/opt/app/app.txt'), 'copied in')
  assert.equal((await sandbox.commands.run('echo $GREETING; pwd')).stdout, 'hello\n/opt/app\n')
  assert.equal(await sandbox.files.read('/home/user/made.txt'), 'made by user with hello\n')
  assert.equal(await sandbox.files.read('/tmp/started'), 'started\n')
})

test('a failing step fails the build', { timeout: 300_000 }, async () => {
  const template = Template().fromTemplate('base').runCmd('echo before; exit 3')
  await assert.rejects(Template.build(template, 'isola-broken'), /exit|Exited|3/)
  await assert.rejects(Sandbox.create('isola-broken'))
})
