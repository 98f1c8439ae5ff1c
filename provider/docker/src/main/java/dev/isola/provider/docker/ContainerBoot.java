package dev.isola.provider.docker;

import dev.isola.codec.time.Deadline;
import dev.isola.host.launch.Containment;
import dev.isola.host.launch.NetworkRecord;
import dev.isola.host.launch.VisibleCpus;
import dev.isola.link.BootRecord;
import dev.isola.provider.docker.http.HijackedConnection;
import dev.isola.spi.InstanceId;
import dev.isola.spi.LimitKind;
import dev.isola.spi.SandboxId;
import dev.isola.spi.Secret;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Starts a container and sends the boot record to its agent. */
final class ContainerBoot {
  private static final int HEADER = 8;
  private static final long MEGABYTE = 1 << 20;
  private static final int MAX_LENGTH = 1024;
  private static final String READY = "ready";

  private ContainerBoot() {}

  static BootRecord record(
      InstanceId instance,
      EngineVariant variant,
      EngineInfo engineInfo,
      SandboxSpec spec,
      ResolvedImage image,
      Secret secret) {
    BootRecord.Builder boot =
        BootRecord.forSpec(spec, instance.value(), secret, image.env())
            .socket(Path.of(ContainerPlan.SOCKET))
            .user(spec.user().or(image::user))
            .workspace(
                spec.workspacePath().isEmpty()
                    ? Optional.of(spec.workspaceMount())
                    : Optional.empty())
            .processors(VisibleCpus.of(spec.limits().cpu()))
            .seccomp(!Containment.sharesHostFolders(spec))
            .sudo();
    if (spec.network().isFiltered()) {
      boot.egress().resolvConf(NetworkRecord.FILTERED_RESOLV_CONF);
    }
    if (engineInfo.reportsDiskUsage()) {
      boot.diskLimit(spec.limits().diskMb() * MEGABYTE);
    }
    if (variant.hasOwnKernel()) {
      boot.userThreads(spec.limits().threads());
    } else if (engineInfo.limits().contains(LimitKind.PROCESSES)) {
      boot.processLimit(spec.limits().processes());
    }
    return boot.build();
  }

  /** Starts the container and returns once its agent is listening. */
  static void start(
      EngineApi engine, String container, SandboxId id, byte[] record, Deadline deadline) {
    try (HijackedConnection stdio = engine.attach(container, deadline)) {
      stdio.closeAt(deadline);
      engine.start(container, deadline);
      stdio.write(ByteBuffer.wrap(record));
      String said = firstLine(stdio.in());
      if (!said.equals(READY)) {
        throw failed(id, "the agent did not start: " + said, null);
      }
    } catch (IOException e) {
      if (deadline.over()) {
        throw Fault.of(
                ErrorCode.DEADLINE_EXCEEDED,
                "the agent did not start within " + deadline.whole().toMillis() + " ms",
                "raise startupTimeout, or check the load of the engine's host")
            .sandbox(id)
            .exception(e);
      }
      throw failed(id, "the agent did not start: " + e.getMessage(), e);
    }
  }

  /** Reads the engine's stream frames, each with a header of 8 bytes, up to the first line. */
  private static String firstLine(InputStream in) throws IOException {
    StringBuilder text = new StringBuilder();
    while (text.indexOf("\n") < 0 && text.length() < MAX_LENGTH) {
      byte[] header = in.readNBytes(HEADER);
      if (header.length < HEADER) {
        String before = text.toString().strip();
        throw new IOException(before.isEmpty() ? "it exited without a message" : before);
      }
      int length = ByteBuffer.wrap(header, 4, 4).getInt();
      if (header[0] < 0 || header[0] > 2 || length < 0 || length > MAX_LENGTH) {
        throw new IOException("the engine's stream is not framed");
      }
      text.append(new String(in.readNBytes(length), StandardCharsets.UTF_8));
    }
    int end = text.indexOf("\n");
    return end < 0 ? text.toString() : text.substring(0, end).strip();
  }

  private static SandboxException failed(SandboxId id, String what, @Nullable Throwable cause) {
    return Fault.of(ErrorCode.SPAWN_FAILED, what, "run isola doctor to find missing prerequisites")
        .sandbox(id)
        .exception(cause);
  }
}
