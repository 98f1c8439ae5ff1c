package dev.isola.client.junit;

import dev.isola.client.Isola;
import dev.isola.client.Sandbox;
import dev.isola.client.SandboxSpec;
import dev.isola.client.error.IsolaException;
import java.io.ByteArrayInputStream;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.ServiceLoader;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.platform.commons.support.AnnotationSupport;

/**
 * Creates and destroys the sandboxes of {@link Sandboxed} tests. Uses only what JUnit 5.12 and 6
 * have in common.
 */
public final class SandboxedExtension implements ParameterResolver, AfterEachCallback {
  private static final Namespace NAMESPACE = Namespace.create(SandboxedExtension.class);
  private static final List<SandboxedClientSource> SOURCES =
      ServiceLoader.load(SandboxedClientSource.class, SandboxedClientSource.class.getClassLoader())
          .stream()
          .map(ServiceLoader.Provider::get)
          .toList();

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    Class<?> type = parameter.getParameter().getType();
    // A constructor does not belong to a single test and therefore gets no sandbox.
    return parameter.getDeclaringExecutable() instanceof Method
        && (type == Sandbox.class || type == Isola.class);
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    Isola isola = isola(context);
    return parameter.getParameter().getType() == Isola.class ? isola : sandbox(context, isola);
  }

  /** Returns the client of the first source that has one for this test, or the shared one. */
  private static Isola isola(ExtensionContext context) {
    for (SandboxedClientSource source : SOURCES) {
      Optional<Isola> client = source.client(context);
      if (client.isPresent()) {
        return client.get();
      }
    }
    return shared(context);
  }

  /** Returns the client that the whole test run shares and JUnit closes at its end. */
  @SuppressWarnings("deprecation") // computeIfAbsent exists since JUnit 6.0 only
  private static Isola shared(ExtensionContext context) {
    return Objects.requireNonNull(
            context
                .getRoot()
                .getStore(NAMESPACE)
                .getOrComputeIfAbsent(
                    SharedClient.class,
                    ignored -> new SharedClient(Isola.fromEnvironment()),
                    SharedClient.class))
        .isola();
  }

  @SuppressWarnings("deprecation") // computeIfAbsent exists since JUnit 6.0 only
  private static Sandbox sandbox(ExtensionContext context, Isola isola) {
    return Objects.requireNonNull(
        context
            .getStore(NAMESPACE)
            .getOrComputeIfAbsent(
                Sandbox.class,
                ignored -> isola.create(spec(annotation(context), context)),
                Sandbox.class));
  }

  private static Sandboxed annotation(ExtensionContext context) {
    return context
        .getElement()
        .flatMap(element -> AnnotationSupport.findAnnotation(element, Sandboxed.class))
        .or(
            () ->
                context
                    .getTestClass()
                    .flatMap(
                        type ->
                            AnnotationSupport.findAnnotation(
                                type, Sandboxed.class, context.getEnclosingTestClasses())))
        .orElseThrow(() -> new IllegalStateException("@Sandboxed is missing"));
  }

  private static SandboxSpec spec(Sandboxed sandboxed, ExtensionContext context) {
    SandboxSpec.Builder spec =
        sandboxed.spec().isEmpty()
            ? SandboxSpec.builder()
            : SandboxSpec.read(
                new ByteArrayInputStream(sandboxed.spec().getBytes(StandardCharsets.UTF_8)))
                .toBuilder();
    spec.ttl(Duration.ofSeconds(sandboxed.ttlSeconds()));
    spec.tag("test", context.getRequiredTestClass().getSimpleName());
    if (!sandboxed.image().isEmpty()) {
      spec.image(sandboxed.image());
    }
    if (!sandboxed.provider().isEmpty()) {
      spec.provider(sandboxed.provider());
    }
    return spec.build();
  }

  @Override
  public void afterEach(ExtensionContext context) {
    Sandbox sandbox = context.getStore(NAMESPACE).remove(Sandbox.class, Sandbox.class);
    if (sandbox == null) {
      return;
    }
    try {
      if (context.getExecutionException().isPresent()) {
        String logs = SandboxLogs.of(sandbox);
        context.publishReportEntry("isola.logs", logs);
        IO.print(logs);
      }
    } finally {
      destroy(sandbox);
    }
  }

  /** Destroys the sandbox. A test may already have done so. */
  private static void destroy(Sandbox sandbox) {
    try {
      sandbox.destroy(true);
    } catch (IsolaException e) {
      if (e.status() != 404 && e.status() != 410) {
        throw e;
      }
    }
  }
}
