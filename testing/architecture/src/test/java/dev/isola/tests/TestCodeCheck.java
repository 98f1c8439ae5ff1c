package dev.isola.tests;

import com.sun.source.tree.AssignmentTree;
import com.sun.source.tree.BinaryTree;
import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.ExpressionTree;
import com.sun.source.tree.IdentifierTree;
import com.sun.source.tree.LambdaExpressionTree;
import com.sun.source.tree.LiteralTree;
import com.sun.source.tree.MemberReferenceTree;
import com.sun.source.tree.MemberSelectTree;
import com.sun.source.tree.MethodInvocationTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.NewClassTree;
import com.sun.source.tree.ReturnTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.VariableTree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.SourcePositions;
import com.sun.source.util.TreePath;
import com.sun.source.util.TreePathScanner;
import com.sun.source.util.TreeScanner;
import com.sun.source.util.Trees;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import javax.tools.JavaFileObject;
import javax.tools.ToolProvider;
import org.jspecify.annotations.Nullable;

/**
 * Finds the statements of one source file that violate a {@link Rule}. It parses the file and
 * resolves no types, so a time is recognized as measured by how it was read: from a clock, from a
 * variable of the same method that a clock reading went into, or from a method of the same file
 * that returns one.
 */
final class TestCodeCheck extends TreePathScanner<@Nullable Void, @Nullable Void> {
  private static final Pattern SLEEP =
      Pattern.compile(
          "(.*\\.)?((Thread|[A-Z]*SECONDS|MINUTES|HOURS|DAYS)(\\.|::)sleep"
              + "|(LockSupport(\\.|::))?park\\w*)");
  private static final Pattern CLOCK =
      Pattern.compile("(.*\\.)?(nanoTime|currentTimeMillis|Duration\\.between)");
  private static final Pattern ASSERTION =
      Pattern.compile(
          "(.*\\.)?(assertThat|assertTrue|that|is(Not)?(Less|Greater|Between|Pos|Neg).*)");
  private static final Pattern UPPER_BOUND =
      Pattern.compile("is(LessThan.*|(Strictly)?Between|Negative|NotPositive|CloseTo)");
  private static final Set<String> ENDPOINTS =
      Set.of("ServerSocket", "Socket", "DatagramSocket", "InetSocketAddress");
  private static final Set<String> ADDRESS_OPTIONS = Set.of("--port", "--server", "--url");
  private static final String PORT = "([2-9]|[1-9]\\d{1,3}|[1-6]\\d{4})";
  private static final Pattern FIXED_PORT =
      Pattern.compile("\"?" + PORT + "\"?|.*(127\\.0\\.0\\.1|localhost):" + PORT + "\\b.*");

  private final CompilationUnitTree unit;
  private final SourcePositions positions;
  private final Set<String> measuringMethods = new HashSet<>();
  private final Set<String> measuredVariables = new HashSet<>();
  private final Set<String> portConstants = new HashSet<>();
  private final List<Finding> findings = new ArrayList<>();

  private TestCodeCheck(CompilationUnitTree unit, SourcePositions positions) {
    this.unit = unit;
    this.positions = positions;
  }

  static List<Finding> findings(List<? extends JavaFileObject> sources) throws IOException {
    JavacTask task =
        (JavacTask)
            ToolProvider.getSystemJavaCompiler().getTask(null, null, null, null, null, sources);
    List<Finding> findings = new ArrayList<>();
    SourcePositions positions = Trees.instance(task).getSourcePositions();
    for (CompilationUnitTree unit : task.parse()) {
      TestCodeCheck check = new TestCodeCheck(unit, positions);
      check.scan(unit, null); // collects the methods that measure, which may come after their calls
      check.findings.clear();
      check.scan(unit, null);
      findings.addAll(check.findings);
    }
    return findings;
  }

  @Override
  public @Nullable Void visitMethod(MethodTree method, @Nullable Void none) {
    measuredVariables.clear();
    return super.visitMethod(method, null);
  }

  @Override
  public @Nullable Void visitVariable(VariableTree variable, @Nullable Void none) {
    super.visitVariable(variable, null);
    ExpressionTree value = variable.getInitializer();
    if (value != null && !(value instanceof LambdaExpressionTree) && isMeasured(value)) {
      measuredVariables.add(variable.getName().toString());
    }
    if (value instanceof LiteralTree && FIXED_PORT.matcher(value.toString()).matches()) {
      portConstants.add(variable.getName().toString());
    }
    return null;
  }

  @Override
  public @Nullable Void visitAssignment(AssignmentTree assignment, @Nullable Void none) {
    if (isMeasured(assignment.getExpression())) {
      measuredVariables.add(assignment.getVariable().toString());
    }
    return super.visitAssignment(assignment, null);
  }

  @Override
  public @Nullable Void visitReturn(ReturnTree result, @Nullable Void none) {
    if (result.getExpression() != null && isMeasured(result.getExpression())) {
      for (TreePath path = getCurrentPath(); path != null; path = path.getParentPath()) {
        if (path.getLeaf() instanceof MethodTree method) {
          measuringMethods.add(method.getName().toString());
        }
        if (path.getLeaf() instanceof MethodTree
            || path.getLeaf() instanceof LambdaExpressionTree) {
          break;
        }
      }
    }
    return super.visitReturn(result, null);
  }

  @Override
  public @Nullable Void visitMethodInvocation(MethodInvocationTree call, @Nullable Void none) {
    String method = call.getMethodSelect().toString();
    if (SLEEP.matcher(method).matches()) {
      report(Rule.SLEEP, call);
    }
    if (simpleName(call).startsWith("assertTimeout")
        || (UPPER_BOUND.matcher(simpleName(call)).matches() && isMeasured(call))) {
      report(Rule.UPPER_BOUND, call);
    }
    if (ASSERTION.matcher(method).matches()) {
      call.getArguments().forEach(this::checkComparisons);
    }
    for (int i = 0; i < call.getArguments().size(); i++) {
      String before = i == 0 ? simpleName(call) : text(call.getArguments().get(i - 1));
      if ((ADDRESS_OPTIONS.contains(before) || (i == 0 && before.equals("connect")))
          && isFixedPort(call.getArguments().get(i))) {
        report(Rule.FIXED_PORT, call.getArguments().get(i));
      }
    }
    return super.visitMethodInvocation(call, null);
  }

  @Override
  public @Nullable Void visitMemberReference(MemberReferenceTree call, @Nullable Void none) {
    if (SLEEP.matcher(call.toString()).matches()) {
      report(Rule.SLEEP, call);
    }
    return super.visitMemberReference(call, null);
  }

  @Override
  public @Nullable Void visitNewClass(NewClassTree created, @Nullable Void none) {
    if (ENDPOINTS.contains(created.getIdentifier().toString())) {
      created.getArguments().stream()
          .limit(2) // a third one is a backlog or the local port
          .filter(argument -> isFixedPort(argument) && !isBacklog(created, argument))
          .forEach(argument -> report(Rule.FIXED_PORT, created));
    }
    return super.visitNewClass(created, null);
  }

  private static boolean isBacklog(NewClassTree created, ExpressionTree argument) {
    return created.getIdentifier().toString().equals("ServerSocket")
        && created.getArguments().indexOf(argument) > 0;
  }

  private boolean isFixedPort(ExpressionTree value) {
    return (value instanceof LiteralTree && FIXED_PORT.matcher(value.toString()).matches())
        || portConstants.contains(value.toString());
  }

  /** Reports {@code measured < limit} and {@code limit > measured} in a condition. */
  private void checkComparisons(Tree condition) {
    new TreeScanner<@Nullable Void, @Nullable Void>() {
      @Override
      public @Nullable Void visitBinary(BinaryTree compared, @Nullable Void none) {
        boolean bound =
            switch (compared.getKind()) {
              case LESS_THAN, LESS_THAN_EQUAL -> isMeasured(compared.getLeftOperand());
              case GREATER_THAN, GREATER_THAN_EQUAL -> isMeasured(compared.getRightOperand());
              default -> false;
            };
        if (bound) {
          report(Rule.UPPER_BOUND, compared);
        }
        return super.visitBinary(compared, null);
      }
    }.scan(condition, null);
  }

  private boolean isMeasured(Tree expression) {
    boolean[] measured = new boolean[1];
    new TreeScanner<@Nullable Void, @Nullable Void>() {
      @Override
      public @Nullable Void visitMethodInvocation(MethodInvocationTree call, @Nullable Void none) {
        measured[0] |=
            CLOCK.matcher(call.getMethodSelect().toString()).matches()
                || measuringMethods.contains(simpleName(call));
        return super.visitMethodInvocation(call, null);
      }

      @Override
      public @Nullable Void visitIdentifier(IdentifierTree name, @Nullable Void none) {
        measured[0] |= measuredVariables.contains(name.toString());
        return null;
      }
    }.scan(expression, null);
    return measured[0];
  }

  private static String simpleName(MethodInvocationTree call) {
    return call.getMethodSelect() instanceof MemberSelectTree select
        ? select.getIdentifier().toString()
        : call.getMethodSelect().toString();
  }

  private static String text(ExpressionTree value) {
    return value instanceof LiteralTree literal ? String.valueOf(literal.getValue()) : "";
  }

  private void report(Rule rule, Tree tree) {
    long line = unit.getLineMap().getLineNumber(positions.getStartPosition(unit, tree));
    findings.add(new Finding(member(), line, rule, tree.toString().replaceAll("\\s+", " ")));
  }

  /** Returns the outermost class with its package, and its method or field. */
  private String member() {
    String member = "";
    for (TreePath path = getCurrentPath(); path != null; path = path.getParentPath()) {
      Tree parent = path.getParentPath() == null ? unit : path.getParentPath().getLeaf();
      if (path.getLeaf() instanceof MethodTree method) {
        member = "." + method.getName();
      } else if (path.getLeaf() instanceof VariableTree field && parent instanceof ClassTree) {
        member = "." + field.getName();
      } else if (path.getLeaf() instanceof ClassTree type
          && parent instanceof CompilationUnitTree) {
        member = unit.getPackageName() + "." + type.getSimpleName() + member;
      }
    }
    return member;
  }
}
