package dev.isola.codec.tar;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
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

  private static final class Held implements TarStream.Item {
    private final TarEntry entry;
    private final byte[] bytes;

    private Held(TarEntry entry, byte[] bytes) {
      this.entry = entry;
      this.bytes = bytes;
    }

    @Override
    public TarEntry entry() {
      return entry;
    }

    @Override
    public InputStream content() {
      return new ByteArrayInputStream(bytes);
    }
  }

  private static Held file(String path, byte[] bytes, Map<String, byte[]> attributes) {
    return new Held(
        new TarEntry(path, TarEntry.Kind.FILE, "", 0640, 1, 2, bytes.length, 3, 4, attributes),
        bytes);
  }

  private static Held bare(
      String path, TarEntry.Kind kind, String target, long owner, long seconds, int nanos) {
    return new Held(
        new TarEntry(path, kind, target, 01755, owner, owner, 0, seconds, nanos, Map.of()),
        new byte[0]);
  }

  private static TarReader reader(InputStream archive) {
    return new TarReader(
        archive, (what, about) -> new IllegalArgumentException(what + ": " + about));
  }

  @Test
  void roundTripsThroughTheReader() throws IOException {
    Random random = new Random(5);
    List<TarStream.Item> items = new ArrayList<>();
    items.add(bare("d", TarEntry.Kind.FOLDER, "", 0, 0, 0));
    for (int size : List.of(0, 1, 511, 512, 513, 100_000)) {
      byte[] bytes = new byte[size];
      random.nextBytes(bytes);
      items.add(file("d/" + size, bytes, Map.of()));
    }
    for (int length : List.of(99, 100, 101, 155, 255, 1000, 4000)) {
      items.add(file("x/".repeat(length / 2) + "n", new byte[] {7}, Map.of()));
      items.add(bare("l" + length, TarEntry.Kind.LINK, "t".repeat(length), 1L << 31, 99, 1));
    }
    items.add(
        file("\u00ff\u00fe\n", "x".getBytes(UTF_8), Map.of("user.\u00e4", new byte[] {0, -1})));
    items.add(file("many", new byte[0], Map.of("user.a", new byte[60_000], "user.b", new byte[0])));
    items.add(bare("h", TarEntry.Kind.HARD_LINK, "d/513", 0, 1_700_000_000, 123_456_789));
    // A record whose length gains a digit by counting its own digits.
    for (int length = 85; length < 110; length++) {
      items.add(file("p".repeat(length) + "\u00e9", new byte[0], Map.of()));
    }
    TarReader reader = reader(new TarStream(items.iterator()));
    for (TarStream.Item item : items) {
      TarEntry wanted = item.entry();
      TarEntry read = reader.next().orElseThrow();
      String path = wanted.kind() == TarEntry.Kind.FOLDER ? wanted.path() + "/" : wanted.path();
      assertThat(read.path()).isEqualTo(path);
      assertThat(read).usingRecursiveComparison().ignoringFields("path").isEqualTo(wanted);
      assertThat(reader.content().readAllBytes()).isEqualTo(((Held) item).bytes);
    }
    assertThat(reader.next()).isEqualTo(Optional.empty());
    assertThat(reader.ended()).isTrue();
  }

  @Test
  void isReadByGnuTar() throws Exception {
    List<TarStream.Item> items =
        List.of(
            bare("d", TarEntry.Kind.FOLDER, "", 0, 86_400, 0),
            file("d/\u00c3\u00a4" + "o".repeat(200), "content".getBytes(UTF_8), Map.of()),
            bare("old", TarEntry.Kind.LINK, "d", 0, -2, 0));
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
  void extendedHeadersOfOneEntryAreBoundedTogether() {
    ByteArrayOutputStream archive = new ByteArrayOutputStream();
    byte[] filling = new byte[200_000];
    for (int i = 0; i < 6; i++) {
      // The header of this file is a pax header with its block; only the first is kept.
      byte[] head = TarHeader.of(file("f", filling, Map.of("user.a" + i, filling)).entry());
      archive.write(head, 0, head.length - TarHeader.BLOCK);
    }
    TarReader reader = reader(new ByteArrayInputStream(archive.toByteArray()));
    assertThatThrownBy(reader::next).hasMessageContaining("the archive has a header of 12");
  }

  @Test
  void globalHeadersAreBoundedTogether() throws IOException {
    ByteArrayOutputStream archive = new ByteArrayOutputStream();
    byte[] filling = new byte[200_000];
    for (int i = 0; i < 6; i++) {
      byte[] head = TarHeader.of(file("f", new byte[0], Map.of("user.a" + i, filling)).entry());
      retype(head, 'g');
      archive.writeBytes(head);
    }
    TarReader reader = reader(new ByteArrayInputStream(archive.toByteArray()));
    for (int i = 0; i < 5; i++) {
      assertThat(reader.next()).isPresent();
    }
    assertThatThrownBy(reader::next).hasMessageContaining("the archive has a header of 12");
  }

  /** Changes the type of a pax header to global. */
  private static void retype(byte[] head, char type) {
    head[156] = (byte) type;
    int sum = 0;
    for (int i = 0; i < TarHeader.BLOCK; i++) {
      sum += i >= 148 && i < 156 ? ' ' : head[i] & 0xff;
    }
    System.arraycopy("%06o\0 ".formatted(sum).getBytes(ISO_8859_1), 0, head, 148, 8);
  }

  @Test
  void aSizeThatCannotBeSkippedIsRefused() {
    byte[] head =
        TarHeader.of(
            new TarEntry("f", TarEntry.Kind.FILE, "", 0, 0, 0, Long.MAX_VALUE, 0, 0, Map.of()));
    TarReader reader = reader(new ByteArrayInputStream(head));
    assertThatThrownBy(reader::next).hasMessage("a size is out of range: f");
  }

  @Test
  void shortFileFailsTheArchive() {
    TarStream.Item cut =
        new TarStream.Item() {
          @Override
          public TarEntry entry() {
            return new TarEntry("f", TarEntry.Kind.FILE, "", 0644, 0, 0, 10, 0, 0, Map.of());
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

  private static byte[] block(String name, char type, String content) {
    byte[] all = new byte[512 + (content.length() + 511) / 512 * 512];
    put(all, 0, name);
    put(all, 100, "0000644");
    put(all, 124, "%011o".formatted(content.length()));
    put(all, 156, String.valueOf(type));
    put(all, 257, "ustar\00000");
    put(all, 148, "        ");
    int sum = 0;
    for (int i = 0; i < 512; i++) {
      sum += all[i];
    }
    put(all, 148, "%06o\0".formatted(sum));
    put(all, 512, content);
    return all;
  }

  private static void put(byte[] to, int at, String text) {
    System.arraycopy(text.getBytes(ISO_8859_1), 0, to, at, text.length());
  }

  private static byte[] sparse(String ranges) {
    ByteArrayOutputStream archive = new ByteArrayOutputStream();
    String record = " ISOLA.sparse=" + ranges + "\n";
    int length = record.length();
    while (length != record.length() + Integer.toString(length).length()) {
      length++;
    }
    archive.writeBytes(block("pax", 'x', length + record));
    archive.writeBytes(block("f", 'S', "12345"));
    archive.writeBytes(block("next", '0', "n"));
    archive.writeBytes(new byte[1024]);
    return archive.toByteArray();
  }

  private static TarReader changes(byte[] archive) {
    return TarReader.ofChanges(
        new ByteArrayInputStream(archive),
        (what, about) -> new IllegalArgumentException(what + ": " + about));
  }

  @Test
  void ranges() throws IOException {
    TarReader reader = changes(sparse("10 1 2 5 3"));
    TarEntry entry = reader.next().orElseThrow();
    assertThat(entry.kind()).isEqualTo(TarEntry.Kind.FILE);
    assertThat(entry.size()).isEqualTo(10);
    assertThat(reader.ranges())
        .contains(List.of(new TarReader.Range(1, 2), new TarReader.Range(5, 3)));
    assertThat(reader.content().readAllBytes()).isEqualTo("12345".getBytes(UTF_8));
    assertThat(reader.next().orElseThrow().path()).isEqualTo("next");
    assertThat(reader.ranges()).isEmpty();
    assertThat(reader.content().readAllBytes()).isEqualTo("n".getBytes(UTF_8));
    assertThatThrownBy(() -> reader(new ByteArrayInputStream(sparse("10 1 2 5 3"))).next())
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void asManyRangesAsAnAgentSends() throws IOException {
    TarReader reader = changes(sparse("10 0 5" + " 5 0".repeat(8191)));
    assertThat(reader.next()).isPresent();
    assertThat(reader.ranges().orElseThrow()).hasSize(8192);
  }

  @Test
  void invalidRangesAreRefused() {
    for (String ranges :
        List.of(
            "",
            "x",
            "10",
            "10 0",
            "10 8 5",
            "10 4 3 2 2",
            "10 0 5 ",
            "10 0 4",
            "-1 0 5",
            "10 0  5",
            "4 0 5",
            "10 5 -5 0 5",
            "10 0 5x",
            "10 9223372036854775807 5",
            "9223372036854775807 9223372036854775806 5",
            "99999999999999999999 0 5",
            "10 0 5" + " 5 0".repeat(8192))) {
      assertThatThrownBy(() -> changes(sparse(ranges)).next())
          .as(ranges.substring(0, Math.min(ranges.length(), 100)))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }
}
