package dev.isola.engine.crash;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.document.request.CreateRequest;
import dev.isola.engine.FakeLog;
import dev.isola.engine.api.SandboxRequest;
import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.spec.SandboxSpec;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;

/**
 * A server that starts a command in each of many sandboxes, prints their ids, and waits until it is
 * told to close or is killed.
 */
final class FiftyCommandsChild {
  private static final SecureRandom RANDOM = new SecureRandom();

  private FiftyCommandsChild() {}

  /** Arguments: instance, folder, number of sandboxes, number of lines. */
  public static void main(String[] args) throws IOException {
    LineWriter out = new LineWriter();
    CrashSite site = new CrashSite(new InstanceId(args[0]), Path.of(args[1]), List.of());
    try (CrashServer server =
        CrashServer.open(site, "", PlantedBug.NOTHING, new FakeLog(), before -> {})) {
      List<Sandbox> sandboxes = new ArrayList<>();
      for (int i = 0; i < Integer.parseInt(args[2]); i++) {
        SandboxSpec spec = SandboxSpec.builder(SandboxId.random(RANDOM)).build();
        sandboxes.add(
            server
                .engine
                .creator()
                .create(SandboxRequest.of(CreateRequest.of(spec, "bubblewrap")))
                .sandbox());
      }
      for (int i = 0; i < sandboxes.size(); i++) {
        Execution execution =
            sandboxes.get(i).start(Command.shell(script(i, Integer.parseInt(args[3]))));
        out.write("started", sandboxes.get(i).id(), execution.id(), i);
      }
      out.write("all");
      new BufferedReader(new InputStreamReader(System.in, UTF_8)).readLine();
    }
    out.write("closed");
  }

  /** Prints numbered lines, five per second; each command has a different exit code. */
  private static String script(int number, int lines) {
    return "i=0; while [ $i -lt "
        + lines
        + " ]; do echo "
        + number
        + " line $i; i=$((i+1)); sleep 0.2; done; exit "
        + exit(number);
  }

  static int exit(int number) {
    return number % 100;
  }
}
