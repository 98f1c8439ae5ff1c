package dev.isola.conformance.check;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.conformance.Expect;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.ExecResult;
import dev.isola.spi.file.FileSystem;
import dev.isola.spi.file.WriteOptions;
import java.util.Map;

/** Files of a sandbox to fork. */
final class ForkedFiles {
  private ForkedFiles() {}

  /** Runs a shell script, which must succeed, and returns its standard output. */
  static String output(Sandbox sandbox, String shell) {
    ExecResult result = sandbox.run(Command.shell(shell));
    Expect.that(
        result.succeeded(),
        "'" + shell + "' succeeds, but " + result.exit() + " " + result.stderr().text());
    return result.stdout().text();
  }

  /** Describes all files of the workspace. */
  static Map<String, String> all(Sandbox sandbox) {
    return FileContents.described(sandbox.files(), ".");
  }

  /** Creates files of every kind and describes them. */
  static Map<String, String> create(Sandbox sandbox) {
    FileSystem files = sandbox.files();
    files.writeText("a/b/file", "one\n", UTF_8);
    files.writeText("gone", "two\n", UTF_8);
    files.writeText("moved", "three\n", UTF_8);
    files.write("a/run", FileContents.of("#!/bin/sh\n"), WriteOptions.DEFAULT.withMode(0750));
    files.makeFolder("a/empty", 0700);
    files.makeLink("link", "a/b/file");
    return all(sandbox);
  }

  /** Changes the created files in every possible way. */
  static void change(Sandbox sandbox) {
    FileSystem files = sandbox.files();
    output(sandbox, "echo more >> a/b/file; rm gone; echo new > a/new");
    files.move("moved", "there", false);
    files.changeMode("a/run", 0600);
    files.remove("a/empty", true);
    files.remove("link", false);
    files.writeText("link", "a link no more", UTF_8);
    files.writeText("gone/now/a/folder", "x", UTF_8);
  }
}
