import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FileNotFoundError, FilesystemEventType, InvalidArgumentError } from 'e2b'
import { until, useSandbox } from './sandbox.mjs'

const sandbox = useSandbox()
const files = () => sandbox().files

async function watched(path, options, work) {
  const events = []
  const handle = await files().watchDir(path, (event) => events.push(event), options)
  const saw = (name, type) =>
    until(
      () => events.some((one) => one.name === name && one.type === type),
      `${type} of ${name}`,
    )
  try {
    await work(saw, events)
  } finally {
    await handle.stop()
  }
}

test('all kinds of changes are reported', async () => {
  await files().makeDir('seen')
  await watched('seen', {}, async (saw) => {
    await files().write('seen/new.txt', 'one')
    await saw('new.txt', FilesystemEventType.CREATE)
    await files().write('seen/new.txt', 'two')
    await saw('new.txt', FilesystemEventType.WRITE)
    await sandbox().commands.run('chmod 600 seen/new.txt')
    await saw('new.txt', FilesystemEventType.CHMOD)
    await files().rename('seen/new.txt', 'seen/old.txt')
    await saw('new.txt', FilesystemEventType.RENAME)
    await saw('old.txt', FilesystemEventType.CREATE)
    await files().remove('seen/old.txt')
    await saw('old.txt', FilesystemEventType.REMOVE)
  })
})

test('subfolders are watched only if recursive', async () => {
  await files().makeDir('deep/in/it')
  await watched('deep', { recursive: true }, async (saw) => {
    await files().write('deep/in/it/file', 'x')
    await saw('in/it/file', FilesystemEventType.CREATE)
  })
  await watched('deep', {}, async (saw, events) => {
    await files().write('deep/in/it/other', 'x')
    await files().write('deep/here', 'x')
    await saw('here', FilesystemEventType.CREATE)
    assert.ok(!events.some((one) => one.name.includes('other')))
  })
})

test('events describe the changed entry', async () => {
  await files().makeDir('told')
  await watched('told', { includeEntry: true }, async (saw, events) => {
    await files().write('told/file', 'hello')
    await saw('file', FilesystemEventType.WRITE)
    await until(() => events.some((one) => one.entry?.path === '/home/user/told/file'), 'an entry')
  })
})

test('watching a path that is not a folder fails', async () => {
  await assert.rejects(files().watchDir('nothing', () => {}), FileNotFoundError)
  await files().write('file', 'x')
  await assert.rejects(files().watchDir('file', () => {}), InvalidArgumentError)
})

test('a stopped watch calls onExit', async () => {
  await files().makeDir('over')
  let ended = 0
  const handle = await files().watchDir('over', () => {}, { onExit: () => void ended++ })
  await handle.stop()
  await until(() => ended === 1, 'the end')
})
