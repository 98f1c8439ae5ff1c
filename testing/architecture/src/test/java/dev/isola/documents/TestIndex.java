package dev.isola.documents;

import com.sun.source.tree.AnnotationTree;
import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.TreeScanner;
import dev.isola.conformance.CheckCase;
import dev.isola.conformance.kit.ConformanceKit;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.jspecify.annotations.Nullable;

/**
 * The tests of the repository by the names under which documents cite them: {@code Class} or {@code
 * Class.method} for Java, {@code Group.check} for the conformance kit, {@code file.function} for C
 * and Python, and paths.
 */
final class TestIndex {
  private static final Set<String> BUILT = Set.of("target", "node_modules", ".git");
  private static final Pattern FUNCTION = Pattern.compile("\\b(?:void|def) (\\w+)\\(");
  private static final Pattern TEST_ANNOTATION = Pattern.compile("TestFactory|\\w*Test");

  private final Path root;
  private final Set<String> checks = new HashSet<>(ConformanceKit.groups());
  private final Map<String, List<Path>> files = new HashMap<>();
  private final Map<Path, Set<String>> members = new HashMap<>();

  private TestIndex(Path root) {
    this.root = root;
    ConformanceKit.checks().stream().map(CheckCase::id).forEach(checks::add);
  }

  static TestIndex of(Path root) throws IOException {
    TestIndex index = new TestIndex(root);
    Files.walkFileTree(
        root,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
            return BUILT.contains(folder.getFileName().toString())
                ? FileVisitResult.SKIP_SUBTREE
                : FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
            if (isTestCode(root.relativize(file).toString())) {
              index.files.computeIfAbsent(stem(file), name -> new ArrayList<>()).add(file);
            }
            return FileVisitResult.CONTINUE;
          }
        });
    return index;
  }

  private static boolean isTestCode(String file) {
    return (file.endsWith(".java") && file.contains("src/test/java/"))
        || (file.endsWith(".c") && file.contains("/test/"))
        || (file.endsWith(".py") && file.startsWith("testing/"));
  }

  private static String stem(Path file) {
    String name = file.getFileName().toString();
    return name.substring(0, name.lastIndexOf('.'));
  }

  /** Returns whether there is a test of this name; a class or a file without a test is none. */
  boolean contains(String name) {
    if (name.contains("/")) {
      return Files.exists(root.resolve(name));
    }
    int dot = name.lastIndexOf('.');
    return checks.contains(name)
        || files.getOrDefault(name, List.of()).stream().anyMatch(file -> !tests(file).isEmpty())
        || (dot > 0
            && files.getOrDefault(name.substring(0, dot), List.of()).stream()
                .anyMatch(file -> tests(file).contains(name.substring(dot + 1))));
  }

  private Set<String> tests(Path file) {
    return members.computeIfAbsent(
        file,
        source -> {
          try {
            return source.toString().endsWith(".java") ? testMethods(source) : functions(source);
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
        });
  }

  private static Set<String> functions(Path source) throws IOException {
    Set<String> names = new HashSet<>();
    Matcher matcher = FUNCTION.matcher(Files.readString(source));
    while (matcher.find()) {
      names.add(matcher.group(1));
    }
    return names;
  }

  /** Returns the methods that are tests; a class that inherits some has its superclass instead. */
  private static Set<String> testMethods(Path source) throws IOException {
    Set<String> names = new HashSet<>();
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    try (StandardJavaFileManager manager = compiler.getStandardFileManager(null, null, null)) {
      JavacTask task =
          (JavacTask)
              compiler.getTask(null, manager, null, null, null, manager.getJavaFileObjects(source));
      for (CompilationUnitTree unit : task.parse()) {
        new TreeScanner<@Nullable Void, @Nullable Void>() {
          @Override
          public @Nullable Void visitClass(ClassTree type, @Nullable Void none) {
            if (type.getExtendsClause() != null) {
              names.add(type.getExtendsClause().toString());
            }
            return super.visitClass(type, null);
          }

          @Override
          public @Nullable Void visitMethod(MethodTree method, @Nullable Void none) {
            if (method.getModifiers().getAnnotations().stream().anyMatch(TestIndex::marksATest)) {
              names.add(method.getName().toString());
            }
            return super.visitMethod(method, null);
          }
        }.scan(unit, null);
      }
    }
    return names;
  }

  private static boolean marksATest(AnnotationTree annotation) {
    return TEST_ANNOTATION.matcher(annotation.getAnnotationType().toString()).matches();
  }
}
