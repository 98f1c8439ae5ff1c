package dev.isola.app.remote;

import dev.isola.app.cli.Arguments;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.Console;
import dev.isola.app.cli.ExitCodes;
import dev.isola.app.cli.RunOptions;
import dev.isola.app.cli.UsageException;
import dev.isola.client.Isola;
import dev.isola.client.SandboxInfo;
import dev.isola.client.SandboxSpec;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Implements {@code isola create}. */
@Command(
    name = "create",
    sortOptions = false,
    description = {
      "Make a sandbox on a server and print its id.",
      "It needs a server, which isola serve starts; isola run needs none."
    })
public final class CreateCommand extends RemoteCommand {
  @Option(names = "--image", paramLabel = "IMAGE", description = "What its files are made from.")
  private @Nullable String image;

  @Option(
      names = "--template",
      paramLabel = "NAME",
      description = "A template of the server, instead of an image; other options win over it.")
  private @Nullable String template;

  @Option(names = "--provider", paramLabel = "NAME", description = "What makes it, or auto.")
  private @Nullable String provider;

  @Option(
      names = "--region",
      paramLabel = "NAME",
      description = "Providers of this region only, as the operator labels them.")
  private @Nullable String region;

  @Option(
      names = "--isolation",
      paramLabel = "LEVEL",
      description = "The least that will do: process, container, kernel or vm.")
  private @Nullable String isolation;

  @Option(
      names = "--ttl",
      paramLabel = "TIME",
      description = "How long it lives: 10m, 2h. Default: what the server says (sandbox.ttl).")
  private @Nullable String ttl;

  @Option(
      names = "--idle",
      paramLabel = "TIME",
      description = "End it when it was not used that long.")
  private @Nullable String idle;

  @Option(
      names = "--when-idle",
      paramLabel = "WHAT",
      description = "Then pause, stop or snapshot it instead; the next request wakes it.")
  private @Nullable String whenIdle;

  @Option(
      names = "--when-expired",
      paramLabel = "WHAT",
      description = "Pause, stop or snapshot it when its time is up, instead of ending it.")
  private @Nullable String whenExpired;

  @Option(
      names = "--auto-resume",
      description = "Requests wake it then, and traffic to its ports whenever it is paused.")
  private boolean autoResume;

  @Option(
      names = {"-e", "--env"},
      paramLabel = "NAME=VALUE",
      description = "A variable of its environment. Repeatable.")
  private List<String> env = new ArrayList<>();

  @Option(
      names = "--secret-env",
      paramLabel = "NAME",
      description =
          "A variable of its environment whose value is taken from isola's own, and is neither"
              + " shown nor stored in plain text. Repeatable.")
  private List<String> secretEnv = new ArrayList<>();

  @Option(names = "--tag", paramLabel = "NAME=VALUE", description = "A word of yours. Repeatable.")
  private List<String> tags = new ArrayList<>();

  @Option(names = "--cpu", paramLabel = "N", description = "Cores, fractions allowed.")
  private @Nullable String cpu;

  @Option(names = "--memory", paramLabel = "MB", description = "Memory in megabytes.")
  private @Nullable String memory;

  @Option(names = "--disk", paramLabel = "MB", description = "Room for files in megabytes.")
  private @Nullable String disk;

  @Option(
      names = "--processes",
      paramLabel = "N",
      description = "How many processes commands may start.")
  private @Nullable String processes;

  @Option(
      names = "--threads",
      paramLabel = "N",
      description = "How many threads all processes may have together.")
  private @Nullable String threads;

  @Option(
      names = "--network",
      paramLabel = "MODE",
      completionCandidates = RunOptions.NetworkModes.class,
      description = "none, bridge or host.")
  private @Nullable String network;

  @Option(
      names = "--id",
      paramLabel = "ID",
      description = "Its id: 1 to 32 of a-z and 0-9. Default: a fresh one.")
  private @Nullable String id;

  @Option(
      names = "--spec",
      paramLabel = "FILE",
      description = "A spec as JSON, - for stdin; options go over it.")
  private @Nullable String file;

  public CreateCommand(CommandContext wiring) {
    super(wiring);
  }

  @Override
  int run(Isola isola, Console console) {
    SandboxInfo made = isola.createAndDescribe(spec());
    if (console.json()) {
      console.print(made.document());
    } else {
      console.print(made.id() + "\n");
    }
    if (console.verbose()) {
      console.printErr("provider " + made.provider() + " (isolation: " + made.isolation() + ")");
    }
    return ExitCodes.OK;
  }

  private SandboxSpec spec() {
    SandboxSpec.Builder spec = file == null ? SandboxSpec.builder() : read(file).toBuilder();
    if (image != null) {
      spec.image(image);
    }
    if (template != null) {
      spec.template(template);
    }
    if (provider != null) {
      spec.provider(provider);
    }
    if (region != null) {
      spec.region(region);
    }
    if (isolation != null) {
      spec.requireIsolation(isolation);
    }
    if (ttl != null) {
      spec.ttl(Arguments.duration("--ttl", ttl));
    }
    if (idle != null) {
      spec.idleTimeout(Arguments.duration("--idle", idle));
    }
    if (whenIdle != null) {
      spec.whenIdle(whenIdle);
    }
    if (whenExpired != null) {
      spec.whenExpired(whenExpired);
    }
    if (autoResume) {
      spec.autoResume(true);
    }
    Arguments.variables("--env", env).forEach(spec::env);
    Arguments.inheritedVariables("--secret-env", secretEnv, wiring.environment().variables())
        .forEach(spec::secretEnv);
    Arguments.variables("--tag", tags).forEach(spec::tag);
    if (cpu != null) {
      spec.cpu(Arguments.decimal("--cpu", cpu));
    }
    if (memory != null) {
      spec.memoryMb(Arguments.count("--memory", memory, "megabytes"));
    }
    if (disk != null) {
      spec.diskMb(Arguments.count("--disk", disk, "megabytes"));
    }
    if (processes != null) {
      spec.processes(Arguments.integer("--processes", processes));
    }
    if (threads != null) {
      spec.threads(Arguments.integer("--threads", threads));
    }
    if (network != null) {
      spec.network(network);
    }
    if (id != null) {
      spec.id(id);
    }
    return spec.build();
  }

  private SandboxSpec read(String from) {
    if (from.equals("-")) {
      return SandboxSpec.read(wiring.environment().in());
    }
    try (InputStream in = Files.newInputStream(Arguments.hostPath("--spec", from))) {
      return SandboxSpec.read(in);
    } catch (IOException e) {
      throw new UsageException(
          "--spec " + from + " cannot be read", "name a file of this host, or - for stdin");
    }
  }
}
