package dev.isola.provider.kubernetes;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.isola.codec.tar.TarEntry;
import dev.isola.codec.tar.TarReader;
import dev.isola.codec.tar.TarStream;
import dev.isola.link.AgentSandbox;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Snapshotting;
import dev.isola.spi.capability.Snapshotting.Capture;
import dev.isola.spi.capability.Snapshotting.CaptureRequest;
import dev.isola.spi.capability.Snapshotting.Coverage;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.file.FileSystem;
import dev.isola.spi.file.FileUser;
import dev.isola.spi.file.ReadRange;
import dev.isola.spi.file.TreeLimits;
import dev.isola.spi.file.WriteOptions;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The files of a sandbox outside of its workspace, which a new pod does not have: what changed
 * since the pod started, and the names of all files, which tell what was removed. They are on the
 * claim while the sandbox is stopped. All of it is the sandbox's own data, and as hostile as any.
 */
record SavedFiles(AgentSandbox sandbox) {
  private static final String CHANGES = PodPlan.SAVED + "/changes.tar";
  private static final String NAMES = PodPlan.SAVED + "/names";
  private static final String SEPARATOR = "\0";
  private static final int MAX_NAMES = 64 << 20;

  /** After all files, so that an archive has no content. */
  private static final long FUTURE = Duration.ofDays(365 * 200).toNanos();

  private static final WriteOptions DURABLE =
      new WriteOptions(Optional.of(0600), true, false, false, true);

  private FileSystem files() {
    return sandbox.files().as(FileUser.rootFor("root"));
  }

  private Snapshotting snapshotting() {
    return sandbox.as(Snapshotting.class).orElseThrow();
  }

  /** Writes the files to the claim. No command runs. */
  void save() {
    write(NAMES, new ByteArrayInputStream(String.join(SEPARATOR, names()).getBytes(ISO_8859_1)));
    CaptureRequest changes =
        CaptureRequest.written(new Coverage(Optional.of(sandbox.id().value()), List.of()));
    try (Capture capture = snapshotting().capture(changes)) {
      write(CHANGES, capture.archive());
    }
  }

  private void write(String path, InputStream content) {
    long written = files().write(path, content, DURABLE).size();
    assert written >= 0;
  }

  /** Restores the files in a new pod. No command has run in it. */
  void restore() {
    String text = new String(files().readBytes(NAMES, MAX_NAMES), ISO_8859_1);
    Set<String> saved = new HashSet<>(Arrays.asList(text.split(SEPARATOR, -1)));
    List<String> removed = removed(names(), saved);
    try (InputStream changes = files().read(CHANGES, ReadRange.ALL);
        InputStream all = new SequenceInputStream(TarStream.removals(removed), changes)) {
      long restored = snapshotting().restoreChanges(all, TreeLimits.DEFAULT).entries();
      assert restored >= 0;
    } catch (IOException e) {
      throw unreadable(e);
    }
  }

  /** Returns the names that were removed, without those beneath a removed folder. */
  static List<String> removed(Set<String> now, Set<String> saved) {
    List<String> removed = new ArrayList<>();
    Set<String> gone = new HashSet<>();
    for (String name : now) { // Folders come before their files.
      if (!saved.contains(name)) {
        gone.add(name);
        int slash = name.lastIndexOf('/');
        if (slash < 0 || !gone.contains(name.substring(0, slash))) {
          removed.add(name);
        }
      }
    }
    return removed;
  }

  /** Returns the names of all files of the root, without those of other mounts. */
  private Set<String> names() {
    CaptureRequest root =
        CaptureRequest.written(new Coverage(Optional.empty(), List.of("/"))).since(FUTURE);
    Set<String> names = new LinkedHashSet<>();
    long length = 0;
    try (Capture capture = snapshotting().capture(root)) {
      TarReader archive = TarReader.ofChanges(capture.archive(), (what, about) -> damaged(what));
      for (Optional<TarEntry> entry = archive.next(); entry.isPresent(); entry = archive.next()) {
        String name = plain(entry.get().path());
        length += name.length() + 1;
        if (length > MAX_NAMES) {
          throw tooMany();
        }
        if (!name.isEmpty()) {
          names.add(name);
        }
      }
      return names;
    } catch (IOException e) {
      throw unreadable(e);
    }
  }

  /** Returns a name as it is in an archive of changes: relative to the root. */
  private static String plain(String path) {
    String name = path;
    while (name.startsWith("/") || name.startsWith("./")) {
      name = name.substring(name.indexOf('/') + 1);
    }
    while (name.endsWith("/")) {
      name = name.substring(0, name.length() - 1);
    }
    return name.equals(".") ? "" : name;
  }

  private SandboxException tooMany() {
    return Fault.of(
            ErrorCode.RESOURCE_LIMIT,
            "the names of all files outside of the workspace of sandbox "
                + sandbox.id()
                + " have more than "
                + MAX_NAMES
                + " bytes",
            "remove files, or move them to the workspace")
        .sandbox(sandbox.id())
        .exception();
  }

  private SandboxException unreadable(IOException e) {
    return damaged(String.valueOf(e.getMessage()));
  }

  private SandboxException damaged(String what) {
    SandboxId id = sandbox.id();
    return Fault.of(
            ErrorCode.PROVIDER_UNAVAILABLE,
            "the files of sandbox " + id + " outside of its workspace cannot be read: " + what,
            "retry, or destroy the sandbox")
        .sandbox(id)
        .exception();
  }
}
