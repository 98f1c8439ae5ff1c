package dev.isola.snapshot;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.spi.error.InvalidRequest;
import dev.isola.spi.file.TreeLimits;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SnapshotArchivesTest {
  @TempDir Path folder;

  /** Compares content, modes, owners, links, times and attributes with other programs. */
  @Test
  void restoredTreeEqualsTheOriginal() throws Exception {
    Path source = Files.createDirectory(folder.resolve("source"));
    sh(
        source,
        """
        mkdir -p d/e 'with space' && chmod 1777 d && chmod 2750 d/e
        head -c 3000000 /dev/urandom >d/large && : >d/empty
        ln -s ../nowhere d/link && ln d/large 'with space/hard'
        printf x >"$(printf 'd/\\377\\376')" && printf y >"d/$(printf 'n%.0s' $(seq 200))"
        touch -d '2001-02-03 04:05:06.789012345 UTC' d/large && touch -d 1969-12-31T00:00:00Z d/empty
        ! command -v setfattr >/dev/null || setfattr -n user.k -v 0x00ff d/large || :
        [ "$(id -u)" != 0 ] || chown -h 12345:54321 d/link d/empty
        chmod 4711 d/empty
        mkfifo pipe
        touch -d '2020-01-01 UTC' 'with space' d/e d .
        """);
    try (SnapshotStore store = SnapshotFixtures.open(folder);
        InputStream archive =
            out("tar", "--xattrs", "--format=pax", "-C", source.toString(), "-c", ".");
        SnapshotWriter taking = store.newWriter()) {
      SnapshotArchives.importArchive(archive, taking, TreeLimits.DEFAULT);
      SnapshotFixtures.finish(taking, "one");
      Path target = Files.createDirectory(folder.resolve("target"));
      try (SnapshotReader opened = store.open("one")) {
        into(
            SnapshotArchives.archive(opened),
            "tar",
            "--xattrs",
            "--same-owner",
            "-p",
            "-C",
            target.toString(),
            "-x");
      }
      Files.delete(source.resolve("pipe")); // Pipes are not captured.
      sh(source, "touch -d '2020-01-01 UTC' .");
      assertThat(look(target)).isEqualTo(look(source)).contains("large", "-> ../nowhere", " 4711 ");
    }
  }

  @Test
  void truncatedArchiveIsRejected() throws Exception {
    Path source = Files.createDirectory(folder.resolve("source"));
    sh(source, "seq 10000 >a && seq 10000 >b");
    byte[] whole = out("tar", "-C", source.toString(), "-c", ".").readAllBytes();
    try (SnapshotStore store = SnapshotFixtures.open(folder)) {
      for (int length : List.of(0, 512, 1000, 30_000, 60_000)) {
        try (SnapshotWriter taking = store.newWriter()) {
          assertThatThrownBy(
                  () ->
                      SnapshotArchives.importArchive(
                          new ByteArrayInputStream(Arrays.copyOf(whole, length)),
                          taking,
                          TreeLimits.DEFAULT))
              .as("%d bytes", length)
              .isInstanceOf(InvalidRequest.class);
        }
      }
      assertThat(store.list()).isEmpty();
    }
  }

  /**
   * Returns everything that find and sha256sum report about a tree, and the names of hard links.
   */
  private static String look(Path tree) throws Exception {
    return sh(
        tree,
        """
        find . -printf '%p %y %m %U %G %s %T@ %n -> %l\\n' | sed 's/ d \\([0-9]* [0-9]* [0-9]*\\) [0-9]* / d \\1 /' | LC_ALL=C sort
        find . -type f -exec sha256sum {} + | LC_ALL=C sort
        ! command -v getfattr >/dev/null || getfattr -Rd -e hex -m user . 2>/dev/null | LC_ALL=C sort
        """);
  }

  private static String sh(Path cwd, String script) throws IOException, InterruptedException {
    Process shell =
        new ProcessBuilder("bash", "-euc", script)
            .directory(cwd.toFile())
            .redirectErrorStream(true)
            .start();
    shell.getOutputStream().close();
    String output = new String(shell.getInputStream().readAllBytes(), UTF_8);
    assertThat(shell.waitFor()).as(output).isZero();
    return output;
  }

  private static InputStream out(String... words) throws IOException {
    Process process = new ProcessBuilder(words).start();
    process.getOutputStream().close();
    return process.getInputStream();
  }

  private static void into(InputStream content, String... words) throws Exception {
    Process process = new ProcessBuilder(words).redirectErrorStream(true).start();
    try (content;
        var in = process.getOutputStream()) {
      content.transferTo(in);
    }
    String output = new String(process.getInputStream().readAllBytes(), UTF_8);
    assertThat(process.waitFor()).as(output).isZero();
  }
}
