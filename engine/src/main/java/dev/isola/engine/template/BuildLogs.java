package dev.isola.engine.template;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.engine.api.BuildLogEntry;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/** The logs of builds, a file for each. */
record BuildLogs(Path folder, InstantSource clock) {
  private static final String ENDING = ".log";

  /** Begins the log of a build. */
  BuildLog open(String build) {
    try {
      PrivateFolder.create(folder);
      return new BuildLog(
          Files.newOutputStream(
              file(build), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
          clock);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Adds the last line to the log of a build that a restart cut off, maybe within a line. */
  void end(String build, String reason) {
    BuildLogEntry last =
        new BuildLogEntry(clock.instant(), BuildLogEntry.Level.ERROR, Optional.empty(), reason);
    try {
      PrivateFolder.create(folder);
      String text = Files.exists(file(build)) ? Files.readString(file(build), ISO_8859_1) : "";
      String between = text.isEmpty() || text.endsWith("\n") ? "" : "\n";
      Files.writeString(
          file(build),
          between + new String(BuildLogFormat.write(last), UTF_8),
          UTF_8,
          StandardOpenOption.CREATE,
          StandardOpenOption.APPEND);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Returns lines of a log; none where there is no log.
   *
   * @param offset how many lines to skip
   * @param most how many lines to return
   */
  List<BuildLogEntry> read(String build, long offset, long most) {
    List<BuildLogEntry> lines = new ArrayList<>();
    try (BufferedReader in =
        new BufferedReader(new InputStreamReader(Files.newInputStream(file(build)), UTF_8))) {
      String line = in.readLine();
      for (long number = 0; line != null && lines.size() < most; number++) {
        if (number >= offset) {
          lines.add(BuildLogFormat.read(line));
        }
        line = in.readLine();
      }
      return lines;
    } catch (NoSuchFileException none) {
      return lines;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  void remove(String build) {
    try {
      Files.deleteIfExists(file(build));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Removes the logs of builds that are not known any more. */
  void removeUnless(Predicate<String> known) {
    try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "*" + ENDING)) {
      for (Path file : files) {
        String name = file.getFileName().toString();
        if (!known.test(name.substring(0, name.length() - ENDING.length()))) {
          Files.deleteIfExists(file);
        }
      }
    } catch (NoSuchFileException none) {
      // nothing was built yet
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The id of a build is the engine's own, never a client's text. */
  private Path file(String build) {
    return folder.resolve(build + ENDING);
  }
}
