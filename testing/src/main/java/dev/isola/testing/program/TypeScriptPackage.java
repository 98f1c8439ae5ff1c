package dev.isola.testing.program;

import static org.junit.jupiter.api.Assumptions.abort;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The TypeScript SDK, packed from its sources and installed from the tarball. A test is NOT RUN if
 * Node.js, npm or the compiler is missing; a package that cannot be built fails the test. Test
 * processes that run at the same time build it one after the other.
 */
public final class TypeScriptPackage {
  public static final Path SOURCE = RepositoryRoot.resolve("client/typescript");
  private static final Path BUILD = RepositoryRoot.resolve("packaging/build-typescript");
  private static final Path COMPILER =
      RepositoryRoot.resolve("target/typescript/node_modules/.bin/tsc");
  private static final Runtime.Version OLDEST_NODE = Runtime.Version.parse("20.3");

  /** A flag of Node.js 20; later versions have a WebSocket without it, and accept it. */
  private static final String WEB_SOCKET = "--experimental-websocket";

  private TypeScriptPackage() {}

  /** Builds the package, installs it into an empty folder. */
  public static void installInto(Path folder) throws IOException, InterruptedException {
    requireNode(folder);
    Path target = Files.createDirectories(RepositoryRoot.resolve("target"));
    try (FileChannel file =
            FileChannel.open(
                target.resolve("typescript.lock"),
                StandardOpenOption.CREATE,
                StandardOpenOption.WRITE);
        FileLock lock = file.lock()) {
      ProgramResult built =
          ProgramResult.run(
              folder, Map.of(), BUILD.toString(), folder.resolve("packed").toString());
      if (!lock.isValid() || !Files.exists(COMPILER)) {
        abort("NOT RUN: the compiler cannot be installed: " + built.output().strip());
      }
      String tarball = require(built).lines().reduce("", (before, line) -> line);
      Files.writeString(folder.resolve("package.json"), "{\"private\":true,\"type\":\"module\"}");
      String install = "npm install --offline --no-audit --no-fund --loglevel=error " + tarball;
      require(ProgramResult.run(folder, Map.of(), install.split(" ")));
    }
  }

  /** Returns the command that compiles programs for the oldest Node.js, strictly. */
  public static List<String> compile(List<Path> programs) {
    String options =
        " --strict --exactOptionalPropertyTypes --target ES2022 --module NodeNext"
            + " --lib ES2022,ESNext.Disposable,DOM,DOM.Iterable,DOM.AsyncIterable";
    List<String> command = new ArrayList<>(List.of((COMPILER + options).split(" ")));
    programs.forEach(program -> command.add(program.toString()));
    return command;
  }

  /** Returns the flags with which Node.js has a WebSocket. */
  public static String nodeOptions(Path folder) throws IOException, InterruptedException {
    Map<String, String> env = Map.of("NODE_OPTIONS", WEB_SOCKET);
    return ProgramResult.run(folder, env, "node", "-e", "0").code() == 0
        ? WEB_SOCKET + " --no-warnings"
        : "";
  }

  private static String require(ProgramResult ended) {
    if (ended.code() != 0) {
      throw new AssertionError(ended.output());
    }
    return ended.output();
  }

  private static void requireNode(Path folder) throws IOException, InterruptedException {
    try {
      String version = require(ProgramResult.run(folder, Map.of(), "node", "--version")).strip();
      if (Runtime.Version.parse(version.replaceFirst("^v", "")).compareTo(OLDEST_NODE) < 0) {
        abort("NOT RUN: Node.js " + OLDEST_NODE + " is needed, not " + version);
      }
      require(ProgramResult.run(folder, Map.of(), "npm", "--version"));
    } catch (IOException e) {
      abort("NOT RUN: there is no Node.js or npm: " + e.getMessage());
    }
  }
}
