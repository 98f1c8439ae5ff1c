package dev.isola.archive;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.spi.Bytes;
import java.io.ByteArrayInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TarStreamTest {
  @TempDir Path folder;

  private record Held(TreeEntry entry, Bytes bytes) implements TarStream.Item {
    @Override
    public InputStream content() {
      return new ByteArrayInputStream(bytes.toArray());
    }
  }

  private static Held file(String path, byte[] bytes, Map<String, byte[]> attributes) {
    return new Held(
        new TreeEntry(path, TreeEntry.Kind.FILE, "", 0640, 1, 2, bytes.length, 3, 4, attributes),
        Bytes.of(bytes));
  }

  private static Held bare(
      String path, TreeEntry.Kind kind, String target, long owner, long seconds, int nanos) {
    return new Held(
        new TreeEntry(path, kind, target, 01755, owner, owner, 0, seconds, nanos, Map.of()),
        Bytes.of(new byte[0]));
  }

  @Test
  void isReadAsItWasWritten() throws IOException {
    Random random = new Random(5);
    List<TarStream.Item> items = new ArrayList<>();
    items.add(bare("d", TreeEntry.Kind.FOLDER, "", 0, 0, 0));
    for (int size : List.of(0, 1, 511, 512, 513, 100_000)) {
      byte[] bytes = new byte[size];
      random.nextBytes(bytes);
      items.add(file("d/" + size, bytes, Map.of()));
    }
    for (int length : List.of(99, 100, 101, 155, 255, 1000, 4000)) {
      items.add(file("x/".repeat(length / 2) + "n", new byte[] {7}, Map.of()));
      items.add(bare("l" + length, TreeEntry.Kind.LINK, "t".repeat(length), 1L << 31, 99, 1));
    }
    items.add(
        file("\u00ff\u00fe\n", "x".getBytes(UTF_8), Map.of("user.\u00e4", new byte[] {0, -1})));
    items.add(file("many", new byte[0], Map.of("user.a", new byte[60_000], "user.b", new byte[0])));
    items.add(bare("h", TreeEntry.Kind.HARD_LINK, "d/513", 0, 1_700_000_000, 123_456_789));
    // A record whose length has one digit more because of its own digits.
    for (int length = 85; length < 110; length++) {
      items.add(file("p".repeat(length) + "\u00e9", new byte[0], Map.of()));
    }
    TarReader reader = new TarReader(new TarStream(items.iterator()));
    for (TarStream.Item item : items) {
      TreeEntry wanted = item.entry();
      TreeEntry read = reader.next().orElseThrow();
      String path = wanted.kind() == TreeEntry.Kind.FOLDER ? wanted.path() + "/" : wanted.path();
      assertThat(read.path()).isEqualTo(path);
      assertThat(read).usingRecursiveComparison().ignoringFields("path").isEqualTo(wanted);
      assertThat(reader.content().readAllBytes()).isEqualTo(((Held) item).bytes().toArray());
    }
    assertThat(reader.next()).isEqualTo(Optional.empty());
    assertThat(reader.ended()).isTrue();
  }

  @Test
  void isReadByTar() throws Exception {
    List<TarStream.Item> items =
        List.of(
            bare("d", TreeEntry.Kind.FOLDER, "", 0, 86_400, 0),
            file("d/\u00c3\u00a4" + "o".repeat(200), "content".getBytes(UTF_8), Map.of()),
            bare("old", TreeEntry.Kind.LINK, "d", 0, -2, 0));
    Path archive = folder.resolve("a.tar");
    try (InputStream in = new TarStream(items.iterator())) {
      Files.copy(in, archive);
    }
    ProcessBuilder list =
        new ProcessBuilder("tar", "--utc", "--full-time", "-tvf", archive.toString())
            .redirectErrorStream(true);
    list.environment().put("LC_ALL", "C");
    Process tar = list.start();
    tar.getOutputStream().close();
    String listed = new String(tar.getInputStream().readAllBytes(), UTF_8);
    assertThat(tar.waitFor()).as(listed).isZero();
    assertThat(listed.replaceAll(" +", " "))
        .contains("drwxr-xr-t 0/0", "1970-01-02 00:00:00 d/", "\\303\\244" + "o".repeat(200))
        .contains("1969-12-31 23:59:58 old -> d");
  }

  @Test
  void aFileThatIsTooShortIsNoEndOfTheArchive() {
    TarStream.Item cut =
        new TarStream.Item() {
          @Override
          public TreeEntry entry() {
            return new TreeEntry("f", TreeEntry.Kind.FILE, "", 0644, 0, 0, 10, 0, 0, Map.of());
          }

          @Override
          public InputStream content() {
            return new ByteArrayInputStream("short".getBytes(ISO_8859_1));
          }
        };
    assertThatThrownBy(() -> new TarStream(List.of(cut).iterator()).readAllBytes())
        .isInstanceOf(EOFException.class)
        .hasMessage("a file ended 5 bytes before it should");
  }
}
