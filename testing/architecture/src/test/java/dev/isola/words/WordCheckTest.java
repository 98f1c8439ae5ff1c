package dev.isola.words;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Checks that comments and documents name the actor (CONTRIBUTING.md, "How we name things"). */
final class WordCheckTest {
  private static final Path ROOT = Path.of("../..").toAbsolutePath().normalize();
  private static final List<String> CHECKED = List.of(".java", ".c", ".h", ".md");

  /** Build output, and this package, which has to name the words. */
  private static final Set<String> NOT_CHECKED = Set.of("target", "node_modules", ".git", "words");

  static List<BannedWord> bannedWords() throws IOException {
    return WordCheck.bannedWords();
  }

  @Test
  void sourcesAndDocumentsHaveNoBannedWord() throws IOException {
    WordCheck check = new WordCheck(WordCheck.bannedWords());
    List<String> findings = new ArrayList<>();
    List<Path> files = sources();
    for (Path file : files) {
      findings.addAll(check.findings(ROOT.relativize(file).toString(), Files.readString(file)));
    }
    assertThat(files).hasSizeGreaterThan(1000);
    assertThat(findings).isEmpty();
  }

  @ParameterizedTest
  @MethodSource("bannedWords")
  void everyBannedWordIsFoundInAComment(BannedWord banned) {
    String fixture = "/** Serves " + banned.word() + ". */\nclass Fixture {}\n";
    assertThat(new WordCheck(List.of(banned)).findings("Fixture.java", fixture))
        .singleElement()
        .asString()
        .contains(banned.word(), banned.instead());
  }

  @Test
  void documentsAreCheckedForProse() {
    WordCheck check = new WordCheck(List.of(BannedWord.parse("whom\tthe actor\tvague")));
    assertThat(check.findings("page.md", "To whom it belongs.")).hasSize(1);
  }

  @Test
  void codeFontStringsAndOtherWordsAreNotProse() {
    WordCheck check = new WordCheck(List.of(BannedWord.parse("nobody\tno client\tvague")));
    assertThat(check.findings("page.md", "Runs as `nobody`.\n```\nsu nobody\n```\n")).isEmpty();
    assertThat(check.findings("A.java", "class A { String user = \"nobody\"; } // {@code nobody}"))
        .isEmpty();
  }

  private static List<Path> sources() throws IOException {
    List<Path> sources = new ArrayList<>();
    Files.walkFileTree(
        ROOT,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
            return !folder.equals(ROOT) && NOT_CHECKED.contains(folder.getFileName().toString())
                ? FileVisitResult.SKIP_SUBTREE
                : FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
            if (CHECKED.stream().anyMatch(file.toString()::endsWith)) {
              sources.add(file);
            }
            return FileVisitResult.CONTINUE;
          }
        });
    return sources;
  }
}
