package dev.isola.client.junit;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Gives each test a fresh sandbox, injected as a parameter of type {@link
 * dev.isola.client.Sandbox}; methods with {@code @BeforeEach} and {@code @AfterEach} get the same
 * one. The sandbox is destroyed after the test. If the test failed, the output of the sandbox's
 * commands is printed first. A parameter of type {@link dev.isola.client.Isola} receives the
 * client.
 *
 * <pre>{@code
 * @Sandboxed(image = "python:3.14")
 * class ScriptTest {
 *   @Test
 *   void counts(Sandbox sandbox) {
 *     assertEquals("42\n", sandbox.exec("python3 -c 'print(6 * 7)'").stdout());
 *   }
 * }
 * }</pre>
 *
 * <p>{@code ISOLA_URL} and {@code ISOLA_API_KEY}, or the system properties {@code isola.url} and
 * {@code isola.key}, select the server. Without them, and with {@code dev.isola:isola-embedded} on
 * the class path, an engine runs in the JVM of the tests. A {@link SandboxedClientSource} comes
 * first. Works with JUnit 5.12 and later, and 6.
 */
@Documented
@Inherited
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(SandboxedExtension.class)
public @interface Sandboxed {
  /** Image of the sandbox; if empty, the server's default. */
  String image() default "";

  /** Provider of the sandbox; if empty, the server chooses. */
  String provider() default "";

  /** Spec as JSON, for all other settings. */
  String spec() default "";

  /** TTL of the sandbox, which bounds a test that never ends. */
  long ttlSeconds() default 600;
}
