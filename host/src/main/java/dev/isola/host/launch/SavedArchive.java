package dev.isola.host.launch;

import dev.isola.codec.process.ProgramRun;
import dev.isola.codec.tar.TarEntry;
import dev.isola.codec.tar.TarReader;
import dev.isola.codec.tar.TarStream;
import dev.isola.link.local.MemoryForker.SavedSandbox;
import dev.isola.spi.Secret;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/** The archive in which a saved sandbox is stored as a snapshot. */
public final class SavedArchive {
  private static final Duration TAR_TIMEOUT = Duration.ofMinutes(10);
  private static final String SECRET = "secret";

  private SavedArchive() {}

  /** Returns files of a folder as an archive. */
  public static InputStream of(Path folder, List<String> names) {
    return new TarStream(
        names.stream()
            .map(name -> (TarStream.Item) new SavedFile(name, folder.resolve(name)))
            .iterator());
  }

  /** A file of a saved sandbox. */
  private record SavedFile(String name, Path file) implements TarStream.Item {
    @Override
    public TarEntry entry() {
      return new TarEntry(name, TarEntry.Kind.FILE, "", 0600, 0, 0, size(), 0, 0, Map.of());
    }

    private long size() {
      try {
        return Files.size(file);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    @Override
    public InputStream content() throws IOException {
      return Files.newInputStream(file);
    }
  }

  /**
   * Unpacks the result of {@link #of}.
   *
   * @param names the names that it may contain
   */
  public static void unpack(InputStream archive, Path folder, Pattern names) throws IOException {
    TarReader reader = new TarReader(archive, (what, about) -> damaged(what + " " + about));
    for (Optional<TarEntry> entry = reader.next(); entry.isPresent(); entry = reader.next()) {
      String name = entry.get().path();
      if (entry.get().kind() == TarEntry.Kind.FOLDER) {
        continue;
      }
      if (entry.get().kind() != TarEntry.Kind.FILE || !names.matcher(name).matches()) {
        throw damaged("it contains " + name);
      }
      Files.copy(reader.content(), folder.resolve(name));
    }
  }

  /** Rejects an archive without some of its files. */
  public static void requireFiles(Path folder, List<String> names) {
    if (!names.stream().allMatch(name -> Files.exists(folder.resolve(name)))) {
      throw damaged("it is incomplete");
    }
  }

  /** Writes the secret that the agent of a saved sandbox has in memory. */
  public static void writeSecret(SavedSandbox saved) throws IOException {
    Files.writeString(
        saved.folder().resolve(SECRET), HexFormat.of().formatHex(saved.secret().reveal()));
  }

  public static Secret readSecret(Path folder) throws IOException {
    requireFiles(folder, List.of(SECRET));
    try {
      return Secret.of(HexFormat.of().parseHex(Files.readString(folder.resolve(SECRET))));
    } catch (IllegalArgumentException e) {
      throw damaged("its secret is invalid");
    }
  }

  private static SandboxException damaged(String problem) {
    return Fault.of(
            ErrorCode.INVALID_REQUEST,
            "the stored sandbox is damaged: " + problem,
            "create it from another snapshot")
        .exception();
  }

  /** Runs tar, for which the launcher need not do anything. */
  public static void tar(List<String> arguments) throws IOException {
    List<String> command = new ArrayList<>(List.of("tar", "--numeric-owner", "--xattrs"));
    command.add("--xattrs-include=*");
    command.addAll(arguments);
    ProgramRun.Result result = ProgramRun.of(command).run(TAR_TIMEOUT);
    if (!result.succeeded()) {
      throw new IOException("tar failed: " + result.output().strip());
    }
  }
}
