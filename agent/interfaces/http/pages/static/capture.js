// The bookmarklet leads to this server, whatever its address: only the browser knows that.
"use strict";
{
  const link = document.getElementById("bookmarklet");
  const code = `const u=new URL("/capture",${JSON.stringify(location.origin)});u.searchParams.set("url",location.href);` +
    `u.searchParams.set("title",document.title);u.searchParams.set("text",String(getSelection()).slice(0,4000));` +
    `open(u,"_blank")`;
  link.href = `javascript:(()=>{${encodeURIComponent(code)}})()`;
  link.addEventListener("click", (event) => event.preventDefault());
}
