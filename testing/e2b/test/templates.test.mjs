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
  const lines = []
  const template = Template().fromTemplate('base').runCmd('echo before; echo reason >&2; exit 3')
  await assert.rejects(Template.build(template, 'isola-broken', { onBuildLogs: (line) => lines.push(line.message) }), (error) => {
    for (const part of ['echo before; echo reason', 'exit code 3', 'before\nreason']) assert.ok(error.message.includes(part), error.message)
    assert.ok(lines.includes('reason'), lines.join('\n'))
    assert.ok(lines.includes(error.message.replaceAll('\n', ' ')), lines.join('\n'))
    return true
  })
  await assert.rejects(Sandbox.create('isola-broken'))
  assert.equal(await Template.exists('isola-broken'), false)
})

test('a failing copy names the command, its exit code and its output', { timeout: 300_000 }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'isola-template-'))
  t.after(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'app.txt'), 'copied in')
  const template = Template({ fileContextPath: folder }).fromTemplate('base').copy('app.txt', '/etc/passwd/app.txt')
  await assert.rejects(Template.build(template, 'isola-broken-copy'), (error) => {
    for (const part of ['COPY', 'app.txt /etc/passwd/app.txt', 'exit code 1', '/etc/passwd']) assert.ok(error.message.includes(part), error.message)
    return true
  })
})

test('an image without the user `user` gets it', { timeout: 300_000 }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'isola-template-'))
  t.after(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'app.txt'), 'copied in')
  const template = Template({ fileContextPath: folder })
    .fromImage('bare')
    .runCmd('echo "$(id -un) in $(pwd)" > made.txt')
    .copy('app.txt', 'app.txt')
    .runCmd('sudo sh -c "id -un > /etc/by-root"')
  await Template.build(template, 'isola-bare')
  const sandbox = await Sandbox.create('isola-bare')
  made.push(sandbox)
  const { stdout } = await sandbox.commands.run('id -un; pwd; cat made.txt app.txt; echo; cat /etc/by-root; sudo id -un; touch here')
  assert.equal(stdout, 'user\n/home/user\nuser in /home/user\ncopied in\nroot\nroot\n')
  const { stdout: ids } = await sandbox.commands.run('id -u; grep ^user: /etc/passwd')
  assert.equal(ids, '1001\nuser:x:1001:1001:user:/home/user:/bin/sh\n')
  await sandbox.files.write('notes/today.txt', 'written')
  assert.equal(await sandbox.files.read('/home/user/notes/today.txt'), 'written')
  assert.equal((await sandbox.files.getInfo('app.txt')).owner, 'user')
  assert.equal((await sandbox.commands.run('whoami', { user: 'root' })).stdout, 'root\n')
})

test('an image without the user `user` gets it even if nothing else is built', { timeout: 300_000 }, async () => {
  await Template.build(Template().fromImage('bare'), 'isola-bare-plain')
  const sandbox = await Sandbox.create('isola-bare-plain')
  made.push(sandbox)
  assert.equal((await sandbox.commands.run('id -un; touch here; stat -c %U here')).stdout, 'user\nuser\n')
})

test('an unknown build user is reported', { timeout: 300_000 }, async () => {
  const message = "failed to run command 'whoami': command failed: unauthenticated: invalid username: 'missing-user'"
  for (const template of [
    Template().fromImage('bare').runCmd('whoami', { user: 'missing-user' }),
    Template().fromTemplate('base').setUser('missing-user').runCmd('whoami'),
  ]) {
    await assert.rejects(Template.build(template, 'isola-unknown-user'), (error) => error.message === message)
  }
})

test('a template without instructions shares the files of its base', { timeout: 300_000 }, async (t) => {
  const lines = []
  const began = performance.now()
  await Template.build(Template().fromTemplate('base').setStartCmd('sleep 1000', 'true'), 'isola-plain', {
    onBuildLogs: (line) => lines.push(line.message),
  })
  t.diagnostic(`built in ${Math.round(performance.now() - began)} ms`)
  assert.ok(lines.includes('sharing the files of the base'), lines.join('\n'))
  const sandbox = await Sandbox.create('isola-plain')
  made.push(sandbox)
  assert.equal((await sandbox.commands.run('id -un; ls /bin/bash')).stdout, 'user\n/bin/bash\n')
})

async function described(path) {
  const answer = await fetch(process.env.E2B_API_URL + path, { headers: { 'X-API-KEY': process.env.E2B_API_KEY } })
  assert.equal(answer.status, 200)
  return answer.json()
}

test('tags exist once their build has succeeded', { timeout: 300_000 }, async () => {
  const name = `isola-tags-${Date.now().toString(36)}`
  const good = Template().fromTemplate('base')
  const bad = Template().fromTemplate('base').runCmd('exit 1')
  await assert.rejects(Template.build(bad, `${name}:bad`))
  assert.equal(await Template.exists(`${name}:bad`), false)
  assert.deepEqual(await Template.getTags(name), [])
  await assert.rejects(Template.assignTags(name, 'early'))
  assert.equal((await described('/templates')).find((one) => one.names[0] === name).buildStatus, 'error')
  const built = await Template.build(good, `${name}:v1`, { tags: ['stable'] })
  const assigned = await Template.assignTags(`${name}:v1`, ['production', 'latest'])
  assert.equal(assigned.buildId, built.buildId)
  assert.deepEqual(assigned.tags, ['production', 'latest'])
  const tags = async () => (await Template.getTags(name)).map((one) => one.tag).sort()
  assert.deepEqual(await tags(), ['latest', 'production', 'stable', 'v1'])
  await Template.removeTags(name, 'production')
  assert.deepEqual(await tags(), ['latest', 'stable', 'v1'])
  await assert.rejects(Template.removeTags(name, 'production'))
  await assert.rejects(Template.assignTags(`${name}:never`, 'x'))
  for (const wrong of [':x', `${name}:`, '', 'a b']) {
    await assert.rejects(Template.assignTags(wrong, 'x'), undefined, wrong)
    await assert.rejects(Template.build(good, wrong), undefined, wrong)
  }
  for (const wrong of [':x', 'x:', '', 'a b']) await assert.rejects(Template.assignTags(name, wrong), undefined, wrong)
  assert.deepEqual(await tags(), ['latest', 'stable', 'v1'])
  const sandbox = await Sandbox.create(`${name}:v1`)
  made.push(sandbox)
  const listed = (await described('/templates')).find((one) => one.names[0] === name)
  assert.equal(listed.buildStatus, 'ready')
  assert.equal(listed.buildCount, 2)
  assert.equal(listed.envdVersion, (await described(`/sandboxes/${sandbox.sandboxId}`)).envdVersion)
})

test('base has the programs that agents expect', async () => {
  const sandbox = await Sandbox.create()
  made.push(sandbox)
  const { stdout } = await sandbox.commands.run('python -c "print(6 * 7)"; git --version; curl --version')
  assert.match(stdout, /^42\ngit version .*\ncurl /)
})
