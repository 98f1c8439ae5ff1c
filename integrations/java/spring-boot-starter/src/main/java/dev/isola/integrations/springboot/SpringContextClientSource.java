package dev.isola.integrations.springboot;

import dev.isola.client.Isola;
import dev.isola.client.junit.SandboxedClientSource;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.platform.commons.support.AnnotationSupport;
import org.springframework.test.context.junit.jupiter.SpringExtension;
import org.springframework.util.ClassUtils;

/**
 * Gives {@code @Sandboxed} tests the client of their application context, if they are tests of
 * Spring and the context has one.
 */
public final class SpringContextClientSource implements SandboxedClientSource {
  /** Whether the tests have Spring's; the class path of an application has not. */
  private static final boolean SPRING_TEST =
      ClassUtils.isPresent(
          "org.springframework.test.context.junit.jupiter.SpringExtension",
          SpringContextClientSource.class.getClassLoader());

  @Override
  public Optional<Isola> client(ExtensionContext context) {
    return SPRING_TEST ? OfContext.client(context) : Optional.empty();
  }

  /** Loaded only if Spring's test framework is there. */
  private static final class OfContext {
    static Optional<Isola> client(ExtensionContext context) {
      boolean isSpringTest =
          Stream.concat(context.getTestClass().stream(), context.getEnclosingTestClasses().stream())
              .flatMap(
                  type ->
                      AnnotationSupport.findRepeatableAnnotations(type, ExtendWith.class).stream())
              .flatMap(annotation -> Stream.of(annotation.value()))
              .anyMatch(SpringExtension.class::equals);
      return isSpringTest
          ? Optional.ofNullable(
              SpringExtension.getApplicationContext(context)
                  .getBeanProvider(Isola.class)
                  .getIfUnique())
          : Optional.empty();
    }
  }
}
