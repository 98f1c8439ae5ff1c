package dev.isola.client.junit;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Gives each test a fresh sandbox as a parameter of type {@link dev.isola.client.Sandbox}; methods
 * with {@code @BeforeEach} and {@code @AfterEach} get the same one. It is destroyed after the test;
 * when the test failed, what its commands wrote is printed first. A parameter of type {@link
 * dev.isola.client.Isola} is the server itself.
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
 * <p>The server is the one that {@code ISOLA_URL} and {@code ISOLA_API_KEY} name, or the system
 * properties {@code isola.url} and {@code isola.key}.
 */
@Documented
@Inherited
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(SandboxedExtension.class)
public @interface Sandboxed {
  /** What the file system is made from; the server's default when empty. */
  String image() default "";

  /** Who makes it; the server's choice when empty. */
  String provider() default "";

  /** A spec as JSON, for everything else. */
  String spec() default "";

  /** How long a sandbox lives whose test never ends. */
  long ttlSeconds() default 600;
}
