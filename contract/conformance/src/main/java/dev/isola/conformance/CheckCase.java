package dev.isola.conformance;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;

/**
 * One check.
 *
 * @param group the class's subject: {@code Exec} for {@code ExecChecks}
 */
public record CheckCase(String group, String name, Check declared, Object owner, Method method) {
  public String id() {
    return group + "." + name;
  }

  public String requirement() {
    return declared.value();
  }

  /** Runs it; whatever the check throws comes out as it is. */
  void run(Subject subject) throws Throwable {
    try {
      method.invoke(owner, subject);
    } catch (InvocationTargetException e) {
      throw e.getCause() == null ? e : e.getCause();
    }
  }
}
