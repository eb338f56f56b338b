package hello;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** The plain answers on Spring Boot with its own Tomcat; settings come from application.properties and its arguments. */
@SpringBootApplication
@RestController
public class Application {
    record Message(String message) {}

    @GetMapping(path = "/", produces = MediaType.TEXT_PLAIN_VALUE)
    String hello() {
        return "Hello, World!";
    }

    @GetMapping("/json")
    Message json() {
        return new Message("Hello, World!");
    }

    public static void main(String[] arguments) {
        SpringApplication.run(Application.class, arguments);
    }
}
