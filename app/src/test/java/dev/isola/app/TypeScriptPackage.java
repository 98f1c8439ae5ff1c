package dev.isola.app;

import static org.junit.jupiter.api.Assumptions.abort;

import dev.isola.app.E2bSdkFixture.ProgramResult;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;

/**
 * The TypeScript SDK, packed from its sources and installed from the tarball. A test is NOT RUN if
 * Node.js, npm or the compiler is not available. Test processes that run at the same time pack it
 * one after the other.
 */
public final class TypeScriptPackage {
  static final Path SOURCE = Path.of("../client/typescript").toAbsolutePath().normalize();
  private static final Path BUILD = Path.of("target/typescript").toAbsolutePath();

  /** The first version with {@code AbortSignal.any} and disposable symbols. */
  private static final String OLDEST_NODE = "20.3";

  private TypeScriptPackage() {}

  /** Returns the compiler that the package was made with. */
  public static Path compiler() {
    return BUILD.resolve("build/node_modules/.bin/tsc");
  }

  /** Packs the SDK and installs it into an empty folder. */
  public static void installInto(Path folder) throws IOException, InterruptedException {
    requireNode(folder);
    Files.createDirectories(BUILD);
    try (FileChannel file =
            FileChannel.open(
                BUILD.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        FileLock lock = file.lock()) {
      // The version of the compiler is locked: a failure to install it is the machine's.
      if (!lock.isValid() || !Files.exists(compiler())) {
        ProgramResult installed = pack();
        if (!Files.exists(compiler())) {
          abort("NOT RUN: the compiler cannot be installed: " + installed.output().strip());
        }
      }
      require(pack());
      Files.writeString(folder.resolve("package.json"), "{\"private\":true,\"type\":\"module\"}");
      require(
          E2bSdkFixture.run(
              folder,
              Map.of(),
              "npm",
              "install",
              "--offline",
              "--no-audit",
              "--no-fund",
              "--loglevel=error",
              tarball().toString()));
    }
  }

  private static Path tarball() throws IOException {
    try (var files = Files.newDirectoryStream(BUILD, "isola-sdk-*.tgz")) {
      return files.iterator().next();
    }
  }

  private static ProgramResult pack() throws IOException, InterruptedException {
    return E2bSdkFixture.run(
        BUILD, Map.of(), SOURCE.resolve("pack").toString(), BUILD.toString());
  }

  private static void require(ProgramResult ended) {
    if (ended.code() != 0) {
      throw new AssertionError(ended.output());
    }
  }

  private static void requireNode(Path folder) throws IOException, InterruptedException {
    for (String program : new String[] {"node", "npm"}) {
      try {
        ProgramResult version = E2bSdkFixture.run(folder, Map.of(), program, "--version");
        if (program.equals("node") && isOlder(version.output().strip())) {
          abort("NOT RUN: Node.js " + OLDEST_NODE + " is needed, not " + version.output().strip());
        }
      } catch (IOException e) {
        abort("NOT RUN: there is no " + program + ": " + e.getMessage());
      }
    }
  }

  private static boolean isOlder(String version) {
    return Runtime.Version.parse(version.replaceFirst("^v", ""))
            .compareTo(Runtime.Version.parse(OLDEST_NODE))
        < 0;
  }
}
