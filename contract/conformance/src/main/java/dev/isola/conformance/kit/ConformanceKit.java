package dev.isola.conformance.kit;

import dev.isola.conformance.Check;
import dev.isola.conformance.CheckCase;
import dev.isola.conformance.CheckContext;
import dev.isola.conformance.check.EscapeChecks;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** All checks, by group. */
public final class ConformanceKit {
  private ConformanceKit() {}

  /** Returns the names of the groups, as accepted by {@code --only}. */
  public static List<String> groups() {
    return CheckClasses.all().stream().map(ConformanceKit::groupOf).toList();
  }

  public static List<CheckCase> checks() {
    return CheckClasses.all().stream().flatMap(ConformanceKit::checksOf).toList();
  }

  public static List<CheckCase> checks(String group) {
    return checks().stream().filter(check -> check.group().equals(group)).toList();
  }

  private static Stream<CheckCase> checksOf(Object owner) {
    if (owner instanceof EscapeChecks escapes) {
      return escapes.checks(groupOf(owner)).stream();
    }
    return Arrays.stream(owner.getClass().getDeclaredMethods())
        .filter(method -> method.isAnnotationPresent(Check.class))
        .sorted(Comparator.comparing(Method::getName))
        .map(method -> caseOf(owner, method));
  }

  private static CheckCase caseOf(Object owner, Method method) {
    if (!Arrays.equals(method.getParameterTypes(), new Class<?>[] {CheckContext.class})
        || !Modifier.isPublic(method.getModifiers())) {
      throw new IllegalStateException("a check is public and takes a CheckContext: " + method);
    }
    Check declared = method.getAnnotation(Check.class);
    return new CheckCase(
        groupOf(owner),
        method.getName(),
        declared.value(),
        List.of(declared.needs()),
        List.of(declared.basics()),
        List.of(declared.tools()),
        subject -> invoke(owner, method, subject));
  }

  private static void invoke(Object owner, Method method, CheckContext subject) throws Throwable {
    try {
      method.invoke(owner, subject);
    } catch (InvocationTargetException e) {
      throw e.getCause() == null ? e : e.getCause();
    }
  }

  private static String groupOf(Object owner) {
    return owner.getClass().getSimpleName().replaceFirst("Checks$", "");
  }
}
