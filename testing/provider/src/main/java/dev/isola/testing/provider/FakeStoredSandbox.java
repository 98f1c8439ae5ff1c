package dev.isola.testing.provider;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.codec.tar.TarEntry;
import dev.isola.codec.tar.TarReader;
import dev.isola.codec.tar.TarStream;
import dev.isola.spi.Bytes;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.capability.Snapshotting;
import dev.isola.spi.capability.Snapshotting.Capture;
import dev.isola.spi.capability.Snapshotting.CaptureRequest;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.file.TreeLimits;
import dev.isola.spi.spec.SandboxSpec;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * What the fake stores of a sandbox: its files, and what another one must equal. No processes.
 *
 * @param shape the properties in which a fork may not differ
 * @param files an archive of the workspace
 */
record FakeStoredSandbox(String shape, Bytes files) {
  /** The parts of a spec in which a fork may not differ from its source. */
  private static final List<Function<SandboxSpec, Object>> SAME =
      List.of(
          SandboxSpec::image,
          SandboxSpec::cwd,
          SandboxSpec::user,
          SandboxSpec::workspacePath,
          SandboxSpec::workspaceMount,
          SandboxSpec::volumes,
          SandboxSpec::startupTimeout,
          SandboxSpec::linger,
          SandboxSpec::limits,
          SandboxSpec::network,
          SandboxSpec::gpus);

  /** Captures a sandbox; a paused one without files, because its agent does not read them. */
  static FakeStoredSandbox of(Sandbox sandbox, SandboxSpec spec) {
    if (sandbox.state() != SandboxState.RUNNING) {
      return new FakeStoredSandbox(shape(spec), Bytes.of(new byte[0]));
    }
    Snapshotting snapshotting = sandbox.as(Snapshotting.class).orElseThrow();
    try (Capture capture = snapshotting.capture(CaptureRequest.of(spec.workspaceMount()))) {
      return new FakeStoredSandbox(shape(spec), Bytes.of(capture.archive().readAllBytes()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String shape(SandboxSpec spec) {
    return SAME.stream()
        .map(one -> String.valueOf(one.apply(spec)))
        .collect(Collectors.joining("\n"));
  }

  /** Refuses the spec of a fork that differs from its source, or that runs or writes anything. */
  void requireSame(SandboxSpec fork) {
    if (!shape(fork).equals(shape) || !fork.seedFiles().isEmpty() || fork.init().isPresent()) {
      throw Fault.of(
              ErrorCode.INVALID_SPEC,
              "the fork " + shape(fork) + " differs from its source " + shape,
              "this is a bug of the caller")
          .exception();
    }
  }

  void writeFiles(Sandbox sandbox, SandboxSpec spec) {
    sandbox
        .as(Snapshotting.class)
        .orElseThrow()
        .restore(
            spec.workspaceMount(), new ByteArrayInputStream(files.toArray()), TreeLimits.DEFAULT);
  }

  InputStream archive() {
    return new TarStream(
        List.<TarStream.Item>of(
                new StoredFile("shape", Bytes.utf8(shape)), new StoredFile("files.tar", files))
            .iterator());
  }

  private record StoredFile(String name, Bytes bytes) implements TarStream.Item {
    @Override
    public TarEntry entry() {
      return new TarEntry(name, TarEntry.Kind.FILE, "", 0600, 0, 0, bytes.size(), 0, 0, Map.of());
    }

    @Override
    public InputStream content() {
      return new ByteArrayInputStream(bytes.toArray());
    }
  }

  /** Reads the result of {@link #archive}. */
  static FakeStoredSandbox read(InputStream archive) {
    Map<String, byte[]> found = new HashMap<>();
    try {
      TarReader reader = new TarReader(archive, (what, about) -> damaged());
      for (Optional<TarEntry> next = reader.next(); next.isPresent(); next = reader.next()) {
        found.put(next.get().path(), reader.content().readAllBytes());
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    byte[] shape = found.get("shape");
    byte[] files = found.get("files.tar");
    if (shape == null || files == null) {
      throw damaged();
    }
    return new FakeStoredSandbox(new String(shape, UTF_8), Bytes.of(files));
  }

  private static SandboxException damaged() {
    return Fault.of(ErrorCode.INVALID_REQUEST, "the archive is damaged", "").exception();
  }
}
