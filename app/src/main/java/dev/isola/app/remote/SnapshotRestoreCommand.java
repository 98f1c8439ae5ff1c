package dev.isola.app.remote;

import dev.isola.app.cli.Arguments;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.Console;
import dev.isola.app.cli.ExitCodes;
import dev.isola.client.Isola;
import dev.isola.client.SandboxInfo;
import dev.isola.client.SandboxSpec;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Implements {@code isola snapshot restore}. */
@Command(name = "restore", description = "Create a sandbox from a snapshot and print its id.")
final class SnapshotRestoreCommand extends RemoteCommand {
  @Parameters(paramLabel = "SNAPSHOT", description = "Id of the snapshot.")
  private String snapshot = "";

  @Option(
      names = "--provider",
      paramLabel = "NAME",
      description = "Provider of the sandbox, or auto.")
  private @Nullable String provider;

  @Option(names = "--ttl", paramLabel = "TIME", description = "Time to live: 10m, 2h.")
  private @Nullable String ttl;

  @Option(names = "--cpu", paramLabel = "N", description = "CPU limit in cores; may be a fraction.")
  private @Nullable String cpu;

  @Option(
      names = "--memory",
      paramLabel = "SIZE",
      description = "Memory limit: 512m, 2g, or a number of megabytes.")
  private @Nullable String memory;

  @Option(
      names = "--disk",
      paramLabel = "SIZE",
      description = "Disk limit: 512m, 2g, or a number of megabytes.")
  private @Nullable String disk;

  @Option(names = "--name", paramLabel = "NAME", description = "Name of the sandbox.")
  private @Nullable String name;

  @Option(
      names = "--force",
      description = "Restore even if the base image is not the one that the snapshot was taken on.")
  private boolean force;

  SnapshotRestoreCommand(CommandContext context) {
    super(context);
  }

  @Override
  int run(Isola isola, Console console) {
    String image = isola.snapshots().get(snapshot).image();
    SandboxSpec.Builder spec = SandboxSpec.builder().image(force ? image + "+force" : image);
    if (name != null) {
      spec.name(name);
    }
    if (provider != null) {
      spec.provider(provider);
    }
    if (ttl != null) {
      spec.ttl(Arguments.duration("--ttl", ttl));
    }
    if (cpu != null) {
      spec.cpu(Arguments.decimal("--cpu", cpu));
    }
    if (memory != null) {
      spec.memoryMb(Arguments.megabytes("--memory", memory));
    }
    if (disk != null) {
      spec.diskMb(Arguments.megabytes("--disk", disk));
    }
    SandboxInfo created = isola.createAndDescribe(spec.build());
    if (console.json()) {
      console.print(created.document());
    } else {
      console.print(created.id() + "\n");
    }
    return ExitCodes.OK;
  }
}
