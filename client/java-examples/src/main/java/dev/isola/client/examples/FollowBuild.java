package dev.isola.client.examples;

import dev.isola.client.Command;
import dev.isola.client.Execution;
import dev.isola.client.Exit;
import dev.isola.client.Isola;
import dev.isola.client.Sandbox;
import dev.isola.client.SandboxSpec;
import java.io.IOException;
import java.nio.file.Path;
import java.util.function.Consumer;

/**
 * Copies a folder into a sandbox, builds it there while streaming the output, and downloads the
 * result.
 */
public final class FollowBuild {
  private FollowBuild() {}

  public static void main(String[] args) throws IOException {
    try (Isola isola = Isola.fromEnvironment()) {
      Exit exit = build(isola, Path.of(args[0]), Path.of(args[1]), IO::print);
      IO.println("result: " + exit);
    }
  }

  /**
   * Runs {@code make} on the content of {@code source} and downloads everything to {@code result}.
   */
  public static Exit build(Isola isola, Path source, Path result, Consumer<String> screen)
      throws IOException {
    try (Sandbox sandbox = isola.create(SandboxSpec.DEFAULT)) {
      sandbox.files().upload(source, "project", bytes -> {});
      Exit exit;
      // Resumes by itself after a broken connection or a restart of the server.
      try (Execution execution = sandbox.start(Command.shell("make 2>&1").withCwd("project"))) {
        exit =
            execution
                .onStdout(screen)
                .onGap(gap -> screen.accept("[" + gap.lost() + " bytes are missing]"))
                .await();
      }
      sandbox.files().download("project", result, bytes -> {});
      return exit;
    }
  }
}
