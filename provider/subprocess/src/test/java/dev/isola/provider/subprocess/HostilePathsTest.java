package dev.isola.provider.subprocess;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.nio.file.LinkOption.NOFOLLOW_LINKS;
import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.conformance.HostilePaths;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.Conflict;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.InvalidRequest;
import dev.isola.spi.error.NotFound;
import dev.isola.spi.file.FileInfo;
import dev.isola.spi.file.FileSystem;
import dev.isola.spi.file.WriteOptions;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.IntConsumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Attacks on a workspace that shares the host's files: nothing outside is read or written. */
@Timeout(120)
final class HostilePathsTest extends SubprocessFixture {
  private static final boolean LONG = Boolean.getBoolean("isola.long");
  private static final int PATHS =
      Integer.getInteger("isola.hostile.paths", LONG ? 100_000 : 40_000);
  private static final int SWAPS =
      Integer.getInteger("isola.hostile.swaps", LONG ? 200_000 : 40_000);
  private static final int THREADS = 8;

  private final String content = "outside-" + UUID.randomUUID();
  private Path outside;
  private Path workspace;
  private FileSystem files;

  @BeforeEach
  void makeBothSides() throws IOException {
    outside = Files.createTempDirectory("isola-outside").toRealPath();
    Files.writeString(outside.resolve("secret"), content);
    Files.writeString(outside.resolve("victim"), content);
    Sandbox sandbox = create();
    files = sandbox.files();
    workspace = Path.of(provider.inventory().getFirst().details().get("workspace"));
  }

  @AfterEach
  void removeTheOutside() throws IOException {
    try (Stream<Path> entries = Files.walk(outside)) {
      for (Path entry : entries.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(entry);
      }
    }
  }

  private Map<String, String> outsideNow() throws IOException {
    Map<String, String> found = new TreeMap<>();
    try (Stream<Path> entries = Files.walk(outside)) {
      for (Path entry : entries.filter(path -> !path.equals(outside)).toList()) {
        String what = Files.isRegularFile(entry) ? Files.readString(entry) : "not a regular file";
        found.put(outside.relativize(entry) + " " + Files.getPosixFilePermissions(entry), what);
      }
    }
    return found;
  }

  /** Runs {@code action} with each number below {@code count}, on eight threads. */
  private static void inParallel(int count, IntConsumer action) throws InterruptedException {
    ConcurrentLinkedQueue<Throwable> failures = new ConcurrentLinkedQueue<>();
    AtomicLong next = new AtomicLong();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < THREADS; i++) {
      threads.add(
          Thread.ofVirtual()
              .start(
                  () -> {
                    try {
                      for (long n = next.getAndIncrement();
                          n < count && failures.isEmpty();
                          n = next.getAndIncrement()) {
                        action.accept((int) n);
                      }
                    } catch (RuntimeException | AssertionError e) {
                      failures.add(e);
                    }
                  }));
    }
    for (Thread thread : threads) {
      thread.join();
    }
    assertThat(failures).isEmpty();
  }

  @Test
  void generatedPathsReadAndWriteNothingOutside() throws Exception {
    Map<String, String> before = outsideNow();
    files.makeFolder("inside/deep", 0755);
    files.makeLink("out", outside.toString());
    files.makeLink("inside/up", "../..");
    files.makeLink("root", "/");
    files.makeLink("chain", "out");
    List<HostilePaths> sources = new ArrayList<>();
    for (int i = 0; i < THREADS * 4; i++) {
      sources.add(
          new HostilePaths(
              i, outside.toString(), "secret", List.of("out", "inside/up", "root", "chain")));
    }
    Map<ErrorCode, LongAdder> refusals = new ConcurrentSkipListMap<>();
    inParallel(
        PATHS,
        n -> {
          HostilePaths source = sources.get(n % sources.size());
          String path;
          synchronized (source) {
            path = source.get();
          }
          attempt(path, n % 2 == 0, refusals);
        });
    assertThat(outsideNow()).isEqualTo(before);
    System.out.println("hostile paths: " + PATHS + ", refused " + refusals);
    assertThat(refusals.getOrDefault(ErrorCode.PATH_OUTSIDE, new LongAdder()).sum())
        .as("precondition: most of the paths lead outside")
        .isGreaterThan(PATHS / 2);
  }

  private void attempt(String path, boolean reading, Map<ErrorCode, LongAdder> refusals) {
    try {
      if (reading) {
        assertThat(files.readText(path, UTF_8, 10_000)).as(path).doesNotContain(content);
      } else {
        files.writeText(path, "spoiled", UTF_8);
      }
    } catch (InvalidRequest | NotFound | Conflict refused) {
      refusals.computeIfAbsent(refused.code(), c -> new LongAdder()).add(1);
    }
  }

  @Test
  void swappedFolderCannotLeaveTheWorkspace() throws Exception {
    Map<String, String> before = outsideNow();
    Files.createDirectory(workspace.resolve("x"));
    Files.createSymbolicLink(workspace.resolve("y"), outside);
    Files.writeString(workspace.resolve("x/secret"), "inside");
    try (Swapper swapper = new Swapper(workspace.resolve("x"), workspace.resolve("y"))) {
      int fooled = naiveReads();
      assertThat(fooled).as("precondition: a naive reader gets outside").isPositive();
      LongAdder inside = new LongAdder();
      LongAdder refused = new LongAdder();
      AtomicLong rounds = new AtomicLong();
      // Until there were enough swaps and enough attempts.
      while (swapper.swaps() < SWAPS || rounds.get() < SWAPS) {
        inParallel(
            SWAPS / 20,
            n -> {
              rounds.incrementAndGet();
              if (touch(n)) {
                inside.increment();
              } else {
                refused.increment();
              }
            });
        assertThat(outsideNow()).isEqualTo(before);
      }
      System.out.println(
          "swaps: "
              + swapper.swaps()
              + ", calls: "
              + rounds
              + ", inside "
              + inside
              + ", refused "
              + refused
              + ", naive reads led out: "
              + fooled);
      assertThat(inside.sum()).as("precondition: some calls hit the folder").isPositive();
      assertThat(refused.sum()).as("precondition: some calls hit the link").isPositive();
    }
    assertThat(outsideNow()).isEqualTo(before);
  }

  private int naiveReads() {
    int fooled = 0;
    for (int i = 0; i < 20_000; i++) {
      try {
        if (Files.readString(workspace.resolve("x/secret")).equals(content)) {
          fooled++;
        }
      } catch (IOException between) {
        // it hit neither
      }
    }
    return fooled;
  }

  /** Makes one call through the swapped folder. Returns false when it was refused. */
  private boolean touch(int n) {
    try {
      switch (n % 12) {
        case 0, 1, 2, 3 ->
            assertThat(files.readText("x/secret", UTF_8, 1000)).isNotEqualTo(content);
        case 4, 5 -> files.writeText("x/secret", "inside", UTF_8);
        case 6 ->
            files.write(
                "x/secret",
                new ByteArrayInputStream("inside".getBytes(UTF_8)),
                WriteOptions.DEFAULT.inPlace());
        case 7 -> files.writeText("x/made/deep/file", "inside", UTF_8);
        case 8 ->
            assertThat(files.stat("x/secret", NOFOLLOW_LINKS).size())
                .isNotEqualTo(content.length());
        case 9 -> {
          try (Stream<FileInfo> entries = files.list("x", 1)) {
            assertThat(entries.map(FileInfo::name)).doesNotContain("victim");
          }
        }
        case 10 -> files.changeMode("x/secret", 0640);
        default -> files.remove("x/victim", true);
      }
      return true;
    } catch (InvalidRequest e) {
      assertThat(e.code()).isIn(ErrorCode.PATH_OUTSIDE, ErrorCode.NOT_A_FOLDER);
      return false;
    } catch (NotFound e) {
      assertThat(n % 12).as("only the removed file is missing inside").isEqualTo(11);
      return true;
    }
  }

  /** Exchanges two names atomically ({@code renameat2}), as fast as possible. */
  private static final class Swapper implements AutoCloseable {
    private static final int AT_FDCWD = -100;
    private static final int RENAME_EXCHANGE = 2;
    private static final MethodHandle RENAMEAT2 = renameat2();

    private final AtomicBoolean over = new AtomicBoolean();
    private final AtomicLong swaps = new AtomicLong();
    private final Thread thread;

    Swapper(Path one, Path other) {
      thread =
          Thread.ofPlatform()
              .start(
                  () -> {
                    try (Arena arena = Arena.ofConfined()) {
                      MemorySegment first = arena.allocateFrom(one.toString());
                      MemorySegment second = arena.allocateFrom(other.toString());
                      while (!over.get() && exchange(first, second)) {
                        swaps.incrementAndGet();
                      }
                    }
                  });
    }

    @SuppressWarnings("restricted")
    private static MethodHandle renameat2() {
      Linker linker = Linker.nativeLinker();
      return linker.downcallHandle(
          linker.defaultLookup().find("renameat2").orElseThrow(),
          FunctionDescriptor.of(
              ValueLayout.JAVA_INT,
              ValueLayout.JAVA_INT,
              ValueLayout.ADDRESS,
              ValueLayout.JAVA_INT,
              ValueLayout.ADDRESS,
              ValueLayout.JAVA_INT));
    }

    private static boolean exchange(MemorySegment one, MemorySegment other) {
      try {
        return (int) RENAMEAT2.invokeExact(AT_FDCWD, one, AT_FDCWD, other, RENAME_EXCHANGE) == 0;
      } catch (Throwable e) {
        throw new IllegalStateException(e);
      }
    }

    long swaps() {
      assertThat(thread.isAlive()).as("the swapper keeps running").isTrue();
      return swaps.get();
    }

    @Override
    public void close() {
      over.set(true);
      try {
        thread.join();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
