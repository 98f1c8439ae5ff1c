package dev.isola.app.documentation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.DynamicContainer.dynamicContainer;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import dev.isola.app.E2bSdkFixture;
import dev.isola.app.LiveServer;
import dev.isola.client.Isola;
import dev.isola.client.SandboxFilter;
import dev.isola.client.SandboxInfo;
import dev.isola.conformance.UniqueResources;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicContainer;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;
import org.opentest4j.TestAbortedException;

/**
 * Runs or checks every fenced block of every page, as CONTRIBUTING.md describes: with the real
 * command, and against a real server with bubblewrap. {@link LaterDocumentationTest} has half of
 * the pages, so that both halves can run at once.
 */
@Tag("all")
class DocumentationTest {
  static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
  private static final Set<String> NO_PAGES = Set.of("target", "node_modules", ".git", "adr");

  /** Pages for a clone of the repository: they start their own server, if any. */
  private static final Set<String> OF_A_CLONE = Set.of("README.md", "CONTRIBUTING.md");

  /** The blocks before it take about as long as those after it. */
  private static final String FIRST_LATER_PAGE = "docs/sdk-java.md";

  @TempDir static Path folder;
  private static final List<PageRunner> RUNNERS = new ArrayList<>();
  private static @Nullable LiveServer server;
  private static Optional<String> obstacle = Optional.empty();

  @BeforeAll
  static void start() throws IOException, InterruptedException {
    obstacle = E2bSdkFixture.unhealthy(folder).map(reason -> "bubblewrap is unhealthy: " + reason);
    if (obstacle.isEmpty()) {
      server = E2bSdkFixture.startServer(folder);
    }
  }

  @AfterAll
  static void end() {
    RUNNERS.forEach(PageRunner::close);
    if (server != null) {
      server.close();
    }
  }

  static List<MarkdownPage> pages() throws IOException {
    List<MarkdownPage> pages = new ArrayList<>();
    Files.walkFileTree(
        ROOT,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult preVisitDirectory(Path path, BasicFileAttributes attributes) {
            return !path.equals(ROOT) && NO_PAGES.contains(path.getFileName().toString())
                ? FileVisitResult.SKIP_SUBTREE
                : FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
              throws IOException {
            String name = ROOT.relativize(file).toString();
            if (name.endsWith(".md") && !name.matches("CHANGELOG\\.md")) {
              pages.add(MarkdownPage.parse(name, Files.readString(file)));
            }
            return FileVisitResult.CONTINUE;
          }
        });
    pages.sort((a, b) -> a.name().compareTo(b.name()));
    return pages;
  }

  private static List<FencedBlock> blocks() throws IOException {
    return pages().stream().flatMap(page -> page.blocks().stream()).toList();
  }

  @Test
  void instructionsAreKnownAndBelongToABlock() throws IOException {
    assertThat(pages().stream().flatMap(page -> page.problems().stream())).isEmpty();
  }

  @Test
  void mostBlocksRun() throws IOException {
    List<FencedBlock> programs = blocks().stream().filter(FencedBlock::isProgram).toList();
    assertThat(programs).hasSizeGreaterThan(30);
    assertThat(programs.stream().filter(block -> block.marks().notRun().isPresent()))
        .hasSizeLessThan(programs.size() * 2 / 5);
  }

  @TestFactory
  Stream<DynamicContainer> blocksAreTrue() throws IOException {
    return pages().stream()
        .filter(page -> !page.blocks().isEmpty() && covers(page.name()))
        .map(DocumentationTest::page);
  }

  /** Returns whether this class runs the blocks of a page. */
  boolean covers(String page) {
    return page.compareTo(FIRST_LATER_PAGE) < 0;
  }

  private static DynamicContainer page(MarkdownPage page) {
    try {
      Path place = Files.createDirectory(folder.resolve("p" + RUNNERS.size()));
      PageRunner runner = new PageRunner(environment(page), page.blocks(), place);
      RUNNERS.add(runner);
      Stream<DynamicNode> blocks =
          page.blocks().stream()
              .map(block -> dynamicTest(block.title(), () -> check(runner, block)));
      DynamicTest end =
          dynamicTest(
              page.name() + " leaves no sandbox",
              () -> {
                runner.close();
                assertNoSandbox();
              });
      return dynamicContainer(page.name(), Stream.concat(blocks, Stream.of(end)));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void check(PageRunner runner, FencedBlock block) throws Exception {
    try {
      runner.check(block);
    } catch (TestAbortedException e) {
      System.out.println(block.title() + " " + e.getMessage());
      throw e;
    }
  }

  private static PageEnvironment environment(MarkdownPage page) throws IOException {
    if (OF_A_CLONE.contains(page.name())) {
      Map<String, String> weakest =
          Map.of("ISOLA_FLOOR", "process", "ISOLA_PROVIDER", "subprocess");
      return new PageEnvironment(
          true,
          obstacle.isEmpty() ? Map.of() : weakest,
          Integer.toString(UniqueResources.reservePort()),
          Optional.empty());
    }
    if (server == null) {
      return new PageEnvironment(false, Map.of(), "7777", obstacle);
    }
    return new PageEnvironment(
        false,
        Map.of(
            "ISOLA_URL",
            server.url,
            "ISOLA_API_KEY",
            LiveServer.KEY,
            "ISOLA_DATA",
            folder.resolve("data").toString()),
        Integer.toString(URI.create(server.url).getPort()),
        Optional.empty());
  }

  /** Sandboxes through which the server reads the files of volumes end by themselves. */
  private static void assertNoSandbox() {
    if (server == null) {
      return;
    }
    try (Isola isola = Isola.connect(server.url, LiveServer.KEY)) {
      assertThat(isola.list(SandboxFilter.ALL))
          .filteredOn(sandbox -> !sandbox.tags().containsKey("isola.volume"))
          .extracting(SandboxInfo::id)
          .isEmpty();
    }
  }
}
