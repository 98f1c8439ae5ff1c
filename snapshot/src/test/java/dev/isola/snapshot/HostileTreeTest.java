package dev.isola.snapshot;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.codec.tar.TarEntry;
import dev.isola.codec.tar.TarStream;
import dev.isola.spi.file.TreeLimits;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Trees whose names and attributes are larger than the heap, in a process with 32 MiB of heap. */
class HostileTreeTest {
  @TempDir Path folder;

  /** What a hostile sandbox has written. */
  enum Tree {
    /** 22,000 hard links, 44 MB of names. */
    LINKS(22_000, HostileTreeTest::link),
    /** 12,000 files with 3.8 KB of attributes each. */
    ATTRIBUTES(12_000, HostileTreeTest::fileWithAttributes),
    /** 30,000 files with different content: none is a duplicate of another. */
    SMALL_FILES(30_000, HostileTreeTest::smallFile);

    private final int count;

    @SuppressWarnings("ImmutableEnumChecker") // a method without state
    private final IntFunction<TarStream.Item> items;

    Tree(int count, IntFunction<TarStream.Item> items) {
      this.count = count;
      this.items = items;
    }

    InputStream archive(int most) {
      return new TarStream(IntStream.range(0, Math.min(count, most)).mapToObj(items).iterator());
    }
  }

  private static final String LONG = ("/" + "n".repeat(199)).repeat(5);

  private static TarStream.Item link(int number) {
    return number == 0
        ? item(TarEntry.Kind.FILE, "target" + LONG, "", Map.of(), new byte[0])
        : item(TarEntry.Kind.HARD_LINK, number + LONG, "target" + LONG, Map.of(), new byte[0]);
  }

  private static TarStream.Item fileWithAttributes(int number) {
    byte[] value = new byte[3800];
    byte[] digits = Integer.toString(number).getBytes(UTF_8);
    System.arraycopy(digits, 0, value, 0, digits.length);
    return item(TarEntry.Kind.FILE, "f" + number, "", Map.of("user.a", value), new byte[0]);
  }

  private static TarStream.Item smallFile(int number) {
    byte[] content = Integer.toString(number).getBytes(UTF_8);
    return item(TarEntry.Kind.FILE, "f" + number, "", Map.of(), content);
  }

  private static TarStream.Item item(
      TarEntry.Kind kind,
      String path,
      String target,
      Map<String, byte[]> attributes,
      byte[] content) {
    TarEntry entry = new TarEntry(path, kind, target, 0644, 0, 0, content.length, 0, 0, attributes);
    return new TarStream.Item() {
      @Override
      public TarEntry entry() {
        return entry;
      }

      @Override
      public InputStream content() {
        return new ByteArrayInputStream(content);
      }
    };
  }

  @ParameterizedTest
  @EnumSource
  void aTreeLargerThanTheHeapIsStoredAndRestored(Tree tree) throws Exception {
    List<String> command = new ArrayList<>(ChildJvm.command(folder, Work.class, tree.name()));
    command.add(1, "-Xmx40m");
    command.remove("-XX:TieredStopAtLevel=1"); // C2 has the intrinsics of SHA-256
    command.add(folder.toString());
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    process.getOutputStream().close();
    String output = new String(process.getInputStream().readAllBytes(), UTF_8);
    assertThat(process.waitFor()).as(output).isZero();
    assertThat(output).endsWith("all of it\n");
  }

  /** Runs with a heap that is smaller than the names. */
  static final class Work {
    private Work() {}

    public static void main(String[] args) throws IOException {
      Tree tree = Tree.valueOf(args[0]);
      try (SnapshotStore store = SnapshotFixtures.open(Path.of(args[1]))) {
        take(store, tree, "one", Integer.MAX_VALUE);
        take(store, tree, "two", tree.count - 1);
        try (SnapshotReader reader = store.open("one");
            InputStream archive = SnapshotArchives.archive(reader);
            InputStream expected = tree.archive(Integer.MAX_VALUE)) {
          assertThat(archive.transferTo(OutputStream.nullOutputStream()))
              .isEqualTo(expected.transferTo(OutputStream.nullOutputStream()));
        }
        SnapshotDiff difference = store.difference("two", "one");
        assertThat(difference.added()).hasSize(1);
        assertThat(difference.removed()).isEmpty();
        store.collectGarbage();
        assertThat(store.verify()).isEmpty();
      }
      System.out.println("all of it");
    }

    private static void take(SnapshotStore store, Tree tree, String id, int most)
        throws IOException {
      try (InputStream archive = tree.archive(most);
          SnapshotWriter writer = store.newWriter()) {
        SnapshotArchives.importArchive(archive, writer, TreeLimits.DEFAULT);
        SnapshotFixtures.finish(writer, id);
      }
    }
  }
}
